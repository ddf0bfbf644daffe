//! A cell in a forked child: the locks there begin with what a fork left of their process.

use super::role::StarveRole;
use crate::latency::Waited;
use crate::record::{TrialError, TrialRecord};
use crate::starved::{Starved, StarvedWait};
use crate::stress::Exercised;
use std::io::{PipeWriter, Read, Write, pipe};

/// Measures in a child, which ends then.
pub fn run(
    role: StarveRole,
    measure: impl FnOnce() -> Result<TrialRecord, TrialError>,
) -> Result<TrialRecord, TrialError> {
    let failed =
        |what: &str| TrialError::Failed(format!("{what}: {}", std::io::Error::last_os_error()));
    let (mut reader, writer) = pipe().map_err(|_| failed("cannot make a pipe"))?;
    // SAFETY: the child runs what this process runs between two cells, and then ends without cleaning up.
    match unsafe { libc::fork() } {
        0 => tell(writer, measure()),
        -1 => Err(failed("cannot fork")),
        child => {
            drop(writer);
            let mut told = Vec::new();
            let has_read = reader.read_to_end(&mut told);
            let mut status = 0;
            // SAFETY: the pointer is to a live number, and the child is ours.
            unsafe { libc::waitpid(child, &mut status, 0) };
            match (has_read, status, told.split_first()) {
                (Ok(_), 0, Some((0, words))) => Ok(measured(&in_words(words), role)),
                (Ok(_), 0, Some((1, _))) => Err(TrialError::Interrupted),
                (Ok(_), 0, Some((_, why))) => {
                    Err(TrialError::Failed(String::from_utf8_lossy(why).into()))
                }
                _ => {
                    Err(TrialError::Failed(format!("the forked child ended with status {status}")))
                }
            }
        }
    }
}

/// Writes the result and ends the child.
fn tell(mut writer: PipeWriter, result: Result<TrialRecord, TrialError>) -> ! {
    let told = match result {
        Ok(measured) => {
            let bytes = words(&measured).into_iter().flat_map(u64::to_le_bytes);
            std::iter::once(0).chain(bytes).collect()
        }
        Err(TrialError::Interrupted) => vec![1],
        Err(TrialError::Failed(why)) => std::iter::once(2).chain(why.into_bytes()).collect(),
    };
    let code = i32::from(writer.write_all(&told).is_err());
    // SAFETY: no memory is involved; what the parent would clean up stays as it is.
    unsafe { libc::_exit(code) }
}

fn in_words(bytes: &[u8]) -> Vec<u64> {
    bytes.as_chunks().0.iter().copied().map(u64::from_le_bytes).collect()
}

fn words(measured: &TrialRecord) -> Vec<u64> {
    let TrialRecord { window_ns, ops_per_s, cpu_s, fail, exercised, .. } = measured;
    let Starved { start_ns, end_ns, waits } =
        measured.starved.as_ref().cloned().unwrap_or_default();
    let ops = &measured.per_thread_ops;
    let mut words = vec![*window_ns, ops_per_s.to_bits(), cpu_s.to_bits(), *fail];
    words.extend([measured.voluntary_switches, measured.involuntary_switches]);
    words.extend([exercised.stutters, exercised.shuffles, start_ns, end_ns, ops.len() as u64]);
    words.extend(ops);
    words.extend(waits.into_iter().flat_map(|it| {
        let StarvedWait { from_ns, to_ns, sections_ns, lost_ns, overtakes, no_cpu_ns, is_cut } = it;
        [from_ns, to_ns, sections_ns, lost_ns, overtakes, no_cpu_ns, is_cut.into()]
    }));
    words
}

fn measured(words: &[u64], role: StarveRole) -> TrialRecord {
    let Some((
        &[
            window_ns,
            ops_per_s,
            cpu_s,
            fail,
            voluntary_switches,
            involuntary_switches,
            stutters,
            shuffles,
            start_ns,
            end_ns,
            threads,
        ],
        rest,
    )) = words.split_first_chunk()
    else {
        return TrialRecord::default();
    };
    let (ops, waits) = rest.split_at(rest.len().min(threads as usize));
    let wait = |&[from_ns, to_ns, sections_ns, lost_ns, overtakes, no_cpu_ns, is_cut]: &[u64;
                     7]| StarvedWait {
        from_ns,
        to_ns,
        sections_ns,
        lost_ns,
        overtakes,
        no_cpu_ns,
        is_cut: is_cut != 0,
    };
    let waits: Vec<StarvedWait> = waits.as_chunks().0.iter().map(wait).collect();
    let mut waited = Waited::default();
    waits.iter().for_each(|wait| waited.of(role).record(wait.length_ns()));
    TrialRecord {
        window_ns,
        per_thread_ops: ops.to_vec(),
        ops_per_s: f64::from_bits(ops_per_s),
        waits: Some(waited.all()),
        waited: waited.if_roles(),
        cpu_s: f64::from_bits(cpu_s),
        voluntary_switches,
        involuntary_switches,
        fail,
        exercised: Exercised { stutters, shuffles, ..Exercised::default() },
        starved: Some(Starved { start_ns, end_ns, waits }),
        ..TrialRecord::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_child_measured_and_why_it_failed_comes_back() {
        let wait = StarvedWait {
            from_ns: 3,
            to_ns: 9,
            sections_ns: 4,
            is_cut: true,
            ..StarvedWait::default()
        };
        let starved =
            Starved { start_ns: 1, end_ns: 10, waits: vec![wait, StarvedWait::default()] };
        let sent = TrialRecord {
            window_ns: 9,
            per_thread_ops: vec![2, 700],
            cpu_s: 0.5,
            fail: 3,
            starved: Some(starved.clone()),
            ..TrialRecord::default()
        };
        let told = run(StarveRole::Upgrader, || Ok(sent)).expect("it was measured");
        assert_eq!((told.window_ns, told.fail, told.cpu_s), (9, 3, 0.5));
        assert_eq!(told.per_thread_ops, [2, 700]);
        assert_eq!(told.starved.map(|it| (it.start_ns, it.waits)), Some((1, starved.waits)));
        assert_eq!(told.waited.map(|waited| waited.upgraders.max()), Some(6));
        let failed = || Err(TrialError::Failed("a thread panicked".into()));
        let said = run(StarveRole::Owner, failed).expect_err("it failed");
        assert_eq!(said, TrialError::Failed("a thread panicked".into()));
    }
}
