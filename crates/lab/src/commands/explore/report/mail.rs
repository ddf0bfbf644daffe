//! A schedule for a mailing list: in lines of 72 characters, the few moves that touch the lock, links and grants.

use super::trace::{LINES_MAX, Trace, TraceLine};
use lockwright_sheets::lines;
use std::collections::BTreeMap;

/// The longest line of such a text.
pub const WIDTH: usize = 72;
/// What a lock word is called where the trace has only one.
const WORD: &str = "lock word";

/// `text` in lines that fit into a mail.
pub fn narrow(text: &str) -> String {
    lines(text, WIDTH).join("\n") + "\n"
}

/// What the trace says of a thread that begins to sleep, and of one that begins to spin.
const SLEEPS: &str = "sleeps";
const SPINS: &str = "spins";

/// By thread and place: the value that the thread has seen there last, and whether the reader knows that it spins. What
/// touches no memory has the place that has no name.
type Known<'a> = BTreeMap<(char, &'a str), (&'a str, bool)>;

/// True if the line says what its reader does not know.
fn is_new<'a>(known: &mut Known<'a>, line: &'a TraceLine) -> bool {
    let TraceLine { thread, what, place, values, .. } = line;
    let seen = if place.is_empty() { what } else { values };
    let (old, new) = seen.split_once(" -> ").unwrap_or((seen, seen));
    let at = known.entry((*thread, place)).or_default();
    let is_new = match what.as_str() {
        SLEEPS => true,
        SPINS => !std::mem::replace(&mut at.1, true),
        // A store of what is there already, such as the first one to a link, tells nothing.
        _ => old != new || at.0 != new && !values.contains(" -> "),
    };
    if is_new && what != SPINS {
        *at = (new, false);
    }
    if old != new {
        known.remove(&(*thread, ""));
    }
    is_new
}

impl Trace {
    /// The moves that touch the lock, links and grants, without those that tell nothing new: a thread that looks again
    /// and sees the same, and one that leaves a value as it was.
    fn of_lock(&self) -> Vec<&TraceLine> {
        let mut known = Known::new();
        let is_of_lock = |line: &&TraceLine| {
            line.is_of_lock && !line.what.ends_with(" plain field") || line.what == SLEEPS
        };
        let of_lock = self.lines.iter().filter(is_of_lock);
        of_lock.filter(|line| is_new(&mut known, line)).collect()
    }
    /// What people read in a mail.
    pub fn mail(&self) -> String {
        let kept = self.of_lock();
        let left_out = kept.len().saturating_sub(LINES_MAX);
        let shown = &kept[left_out..];
        let mut words = shown.iter().map(|line| &line.place).filter(|it| it.starts_with(WORD));
        // The only word needs no number.
        let word = words.next().filter(|first| words.all(|it| it == *first));
        let is_word = |place: &str| word.is_some_and(|word| word.ends_with(place));
        let place_of = |line: &&TraceLine| match !line.place.is_empty() && is_word(&line.place) {
            true => WORD.to_owned(),
            false => line.place.clone(),
        };
        let what = shown.iter().map(|line| line.what.len()).max().unwrap_or(0);
        let place = shown.iter().map(|line| place_of(line).len()).max().unwrap_or(0);
        let mut text = narrow(&self.threads);
        text += "The moves that touch the lock, links and grants:\n\n";
        if left_out > 0 {
            text += &format!("  ({left_out} of them before these are left out)\n");
        }
        for line in shown {
            let TraceLine { number, thread, what: does, values, .. } = line;
            let begins = format!("{number:>5} {thread} {does:<what$} {:<place$}", place_of(line));
            // Values that do not fit stand below.
            let line = match begins.len() + 1 + values.len() <= WIDTH {
                true => format!("{begins} {values}"),
                false => format!("{}\n        {values}", begins.trim_end()),
            };
            text += line.trim_end();
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mail_has_what_the_lock_did_once_and_nothing_of_the_client() {
        let word = "lock word of Excluded byte 0";
        let line = |(number, thread, what, place, values): (u64, char, &str, &str, &str)| {
            let [what, place, values] = [what, place, values].map(str::to_owned);
            let is_of_lock = !place.ends_with("byte 8");
            TraceLine { number, thread, what, place, is_of_lock, values }
        };
        let lines = [
            (1, 'a', "has the lock", "", ""),
            (2, 'b', "load", word, "0x00000001"),
            (2, 'b', "spins", "Excluded byte 0", ""),
            (3, 'a', "add", "Excluded byte 8", "0x0 -> 0x1"),
            (4, 'b', "look again", word, "0x00000001"),
            (4, 'b', "spins", "Excluded byte 0", ""),
            (4, 'b', "store becomes visible", "QNode[0].next", "0x0 -> 0x0"),
            (5, 'b', "has waited for its whole time-out", "", ""),
            (6, 'b', "has waited for its whole time-out", "", ""),
            (7, 'a', "store becomes visible", word, "0x00000001 -> 0x00000000"),
            (8, 'b', "look again", word, "0x00000000"),
            (9, 'b', "write a plain field", "Waiter[0] byte 48", ""),
            (9, 'b', "sleeps", "QNode[0] byte 44", ""),
        ];
        let lines = lines.map(line).to_vec();
        let trace = Trace { threads: "a is thread 0; b is thread 1".into(), moves: 9, lines };
        let right = "\
a is thread 0; b is thread 1
The moves that touch the lock, links and grants:

    1 a has the lock
    2 b load                              lock word        0x00000001
    2 b spins                             lock word
    5 b has waited for its whole time-out
    7 a store becomes visible             lock word
        0x00000001 -> 0x00000000
    8 b look again                        lock word        0x00000000
    9 b sleeps                            QNode[0] byte 44
";
        assert_eq!(trace.mail(), right);
    }
}
