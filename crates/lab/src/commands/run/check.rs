//! `lockwright run --check`: if a program can profit, without running it.

use super::program::{self, Elf, ProgramFile};
use lockwright_measure::error::Error;
use lockwright_sheets::print;
use std::path::Path;

/// Says what the library can do for the program.
pub fn check(path: &Path) -> Result<(), Error> {
    let said = sentences(path, program::SCRIPTS_MAX)?;
    print(&format!("{}: {said}\n", path.display()))
}

/// `scripts` is how many may follow each other.
fn sentences(path: &Path, scripts: usize) -> Result<String, Error> {
    if program::has_other_rights(path) {
        return Ok("no. It runs with other rights than its user's, so the dynamic linker\n\
             takes no library that the user names."
            .into());
    }
    let unreadable = |error| Error::usage(format!("{}: {error}", path.display()));
    Ok(match program::read(path).map_err(unreadable)? {
        ProgramFile::Script { .. } if scripts == 0 => {
            "no. It does not start: too many scripts interpret each other.".into()
        }
        ProgramFile::Script { interpreter } => {
            let name = interpreter.display();
            format!(
                "a script: its locks are those of its interpreter.\n{name}: {}",
                sentences(&interpreter, scripts - 1)?
            )
        }
        ProgramFile::Other => "no. It is not a program for this processor.".into(),
        ProgramFile::Elf(elf) => of_elf(&elf),
    })
}

fn of_elf(elf: &Elf) -> String {
    let languages = elf.own_locks.iter().copied().collect::<Vec<_>>().join(" and ");
    if elf.is_static {
        return "no. It is linked statically, so its locks are its own.".into();
    }
    if elf.is_of_musl {
        return "no. Its C library is musl, and the library is for glibc.".into();
    }
    let mut text = match (elf.imports.is_empty(), languages.is_empty()) {
        (true, true) => {
            return "no. Neither it nor its libraries call the locks of the C library. It may\n\
                    load libraries later that do."
                .into();
        }
        (true, false) => return format!("no. Locks of {languages} are on futexes of their own."),
        (false, true) => String::from("yes, if threads wait for these locks:"),
        (false, false) => format!(
            "in part. Locks of {languages} are on futexes of their own, but it or its\n\
             libraries call:"
        ),
    };
    for (object, prefixes) in program::OBJECTS {
        let is_one = |name: &&String| prefixes.iter().any(|prefix| name.starts_with(prefix));
        let names: Vec<_> = elf.imports.iter().filter(is_one).collect();
        if !names.is_empty() {
            text += &format!("\n  {object}: {} functions, such as {}", names.len(), names[0]);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_program_has_its_answer() {
        let imports = ["pthread_mutex_lock".to_owned(), "pthread_cond_wait".to_owned()];
        let of = |is_static, imports: &[String], own_locks: &[&'static str]| {
            let (imports, own_locks) = (imports.iter().cloned(), own_locks.iter().copied());
            let (imports, own_locks) = (imports.collect(), own_locks.collect());
            of_elf(&Elf { is_static, imports, own_locks, is_of_musl: false })
        };
        assert!(of(true, &[], &["Go"]).contains("statically"));
        assert!(of_elf(&Elf { is_of_musl: true, ..Elf::default() }).contains("musl"));
        assert!(of(false, &[], &["Rust"]).starts_with("no. Locks of Rust"));
        assert!(of(false, &imports, &["Rust"]).starts_with("in part"));
        assert!(of(false, &[], &[]).starts_with("no. Neither"));
        let yes = of(false, &imports, &[]);
        assert!(yes.starts_with("yes") && yes.contains("condition variables: 1 "), "{yes}");
        assert!(!yes.contains("reader-writer"), "{yes}");
    }
}
