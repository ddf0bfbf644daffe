//! Work on many items, some at a time.

use std::sync::Mutex;

/// Items that are worked on at the same time.
const WORKERS: usize = 2;

/// Works on all items, [`WORKERS`] at a time, as [`on_all_by`].
///
/// # Errors
/// The error of the first item that has one.
pub fn on_all<T: Sync, R: Send>(
    items: &[T],
    work: impl Fn(&T) -> Result<R, String> + Sync,
) -> Result<Vec<R>, String> {
    on_all_by(WORKERS, items, work)
}

/// Works on all items, `workers` at a time; the results in the order of the items. After an error no other item is
/// begun.
///
/// # Errors
/// The error of the first item that has one.
pub fn on_all_by<T: Sync, R: Send>(
    workers: usize,
    items: &[T],
    work: impl Fn(&T) -> Result<R, String> + Sync,
) -> Result<Vec<R>, String> {
    let (next, results) = (Mutex::new(items.iter().enumerate()), Mutex::new(Vec::new()));
    let begin_next = || next.lock().expect("no worker panics in it").next();
    std::thread::scope(|scope| {
        for _ in 0..workers {
            scope.spawn(|| {
                while let Some((at, item)) = begin_next() {
                    let result = work(item);
                    if result.is_err() {
                        while begin_next().is_some() {}
                    }
                    results.lock().expect("no worker panics in it").push((at, result));
                }
            });
        }
    });
    let mut results = results.into_inner().expect("no worker panics in it");
    results.sort_by_key(|(at, _)| *at);
    results.into_iter().map(|(_, result)| result).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

    #[test]
    fn results_are_in_the_order_of_the_items() {
        let items: Vec<u64> = (0..100).collect();
        let work = |item: &u64| {
            std::thread::sleep(std::time::Duration::from_micros(item % 3 * 300));
            Ok(item * 2)
        };
        let doubled: Vec<_> = items.iter().map(|item| item * 2).collect();
        assert_eq!(on_all(&items, work), Ok(doubled));
    }

    #[test]
    fn an_error_is_the_result_and_ends_the_work() {
        let begun = AtomicUsize::new(0);
        let work = |item: &u64| {
            begun.fetch_add(1, Relaxed);
            std::thread::sleep(std::time::Duration::from_millis(1));
            if *item == 10 { Err("ten".to_string()) } else { Ok(()) }
        };
        let items: Vec<u64> = (0..1000).collect();
        assert_eq!(on_all(&items, work), Err("ten".into()));
        assert!(begun.into_inner() < items.len());
    }
}
