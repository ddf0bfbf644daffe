//! The values that a sequence lock can hold: they can be turned into words.

use super::seqlock::Words;
use core::time::Duration;

/// A value that a [`SeqLock`](crate::SeqLock) can hold: it can be turned into words of 64 bits, and back.
///
/// Integers, floats, `bool`, `char` and [`Duration`] are records, and so are arrays of scalars and tuples of up to
/// eight scalars. A scalar is an integer of at most 64 bits, a float, `bool` or `char`; each takes one word.
///
/// # Examples
///
/// For a type of your own, turn the fields into a tuple, which already is a record:
///
/// ```
/// use lockwright::{Record, SeqLock};
///
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct Quote {
///     bid: f64,
///     ask: f64,
///     volume: u32,
/// }
///
/// impl Record for Quote {
///     type Words = [u64; 3];
///
///     fn to_words(self) -> [u64; 3] {
///         (self.bid, self.ask, self.volume).to_words()
///     }
///     fn from_words(words: [u64; 3]) -> Self {
///         let (bid, ask, volume) = Record::from_words(words);
///         Self { bid, ask, volume }
///     }
/// }
///
/// static QUOTE: SeqLock<Quote> = SeqLock::new(Quote { bid: 9.5, ask: 10.0, volume: 0 });
///
/// QUOTE.update(|quote| Quote { volume: quote.volume + 100, ..quote });
/// assert_eq!(QUOTE.read(), Quote { bid: 9.5, ask: 10.0, volume: 100 });
/// ```
///
/// The compiler checks the number of words: `[u64; 2]` would not compile here.
#[diagnostic::on_unimplemented(
    message = "a `SeqLock` cannot hold a `{Self}`",
    label = "`{Self}` is not a `Record`",
    note = "integers, floats, `bool`, `char`, `Duration`, arrays of scalars and tuples of up to eight scalars are records; for a type of your own, implement `lockwright::Record`; for anything else use `RwLock` or `Mutex`"
)]
pub trait Record: Copy + Send {
    /// An array of words, `[u64; N]`.
    type Words: Words;
    /// Returns the words of this value.
    fn to_words(self) -> Self::Words;
    /// Returns the value that has these words. The words always come from [`to_words`](Self::to_words).
    fn from_words(words: Self::Words) -> Self;
}

/// A value that is one word.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a scalar, so a record cannot hold it in an array or a tuple",
    label = "not a scalar",
    note = "scalars are integers of at most 64 bits, floats, `bool` and `char`; for a type of your own, implement `lockwright::Record`"
)]
pub trait Scalar: Copy + Send {
    fn to_word(self) -> u64;
    fn from_word(word: u64) -> Self;
}

macro_rules! scalars {
    ($($scalar:ty: |$value:ident| $to:expr, |$word:ident| $from:expr;)+) => {$(
        impl Scalar for $scalar {
            #[inline]
            fn to_word(self) -> u64 {
                let $value = self;
                $to
            }
            #[inline]
            fn from_word($word: u64) -> Self {
                $from
            }
        }
        impl Record for $scalar {
            type Words = [u64; 1];

            #[inline]
            fn to_words(self) -> [u64; 1] {
                [self.to_word()]
            }
            #[inline]
            fn from_words([word]: [u64; 1]) -> Self {
                Self::from_word(word)
            }
        }
    )+};
}
macro_rules! integers {
    ($($integer:ty),+) => {
        scalars! { $($integer: |value| value as u64, |word| word as $integer;)+ }
    };
}
integers!(u8, u16, u32, u64, usize, i8, i16, i32, i64, isize);
scalars! {
    f32: |value| value.to_bits().into(), |word| f32::from_bits(word as u32);
    f64: |value| value.to_bits(), |word| f64::from_bits(word);
    bool: |value| value.into(), |word| word != 0;
    char: |value| value.into(), |word| char::from_u32(word as u32).unwrap_or_default();
}

macro_rules! two_words {
    ($($integer:ty),+) => {$(
        impl Record for $integer {
            type Words = [u64; 2];

            #[inline]
            fn to_words(self) -> [u64; 2] {
                [self as u64, (self >> 64) as u64]
            }
            #[inline]
            fn from_words([low, high]: [u64; 2]) -> Self {
                (high as $integer) << 64 | low as $integer
            }
        }
    )+};
}
two_words!(u128, i128);

impl Record for Duration {
    type Words = [u64; 2];

    #[inline]
    fn to_words(self) -> [u64; 2] {
        [self.as_secs(), self.subsec_nanos().into()]
    }
    #[inline]
    fn from_words([seconds, nanoseconds]: [u64; 2]) -> Self {
        Self::new(seconds, nanoseconds as u32)
    }
}

impl<S: Scalar, const N: usize> Record for [S; N] {
    type Words = [u64; N];

    #[inline]
    fn to_words(self) -> [u64; N] {
        self.map(S::to_word)
    }
    #[inline]
    fn from_words(words: [u64; N]) -> Self {
        words.map(S::from_word)
    }
}

macro_rules! tuples {
    ($($words:literal: $($scalar:ident $at:tt)+;)+) => {$(
        impl<$($scalar: Scalar),+> Record for ($($scalar,)+) {
            type Words = [u64; $words];

            #[inline]
            fn to_words(self) -> [u64; $words] {
                [$(self.$at.to_word()),+]
            }
            #[inline]
            fn from_words(words: [u64; $words]) -> Self {
                ($($scalar::from_word(words[$at]),)+)
            }
        }
    )+};
}
tuples! {
    1: A 0;
    2: A 0 B 1;
    3: A 0 B 1 C 2;
    4: A 0 B 1 C 2 D 3;
    5: A 0 B 1 C 2 D 3 E 4;
    6: A 0 B 1 C 2 D 3 E 4 F 5;
    7: A 0 B 1 C 2 D 3 E 4 F 5 G 6;
    8: A 0 B 1 C 2 D 3 E 4 F 5 G 6 H 7;
}
