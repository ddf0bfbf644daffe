//! `run` starts programs as they are, with a library in front, and says what it cannot do.

use super::{inherited, lockwright, stderr, stdout};
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::PathBuf;
use std::process::Command;

/// A library that does nothing, built once more for each test that needs one.
fn some_library(folder: &tempfile::TempDir) -> PathBuf {
    let (source, library) =
        (folder.path().join("l.c"), folder.path().join("liblockwright-pthread.so"));
    std::fs::write(&source, "int lockwright_of_test;\n").expect("it is written");
    let mut cc = Command::new("cc");
    let built = cc.args(["-shared", "-fPIC", "-o"]).arg(&library).arg(&source).status();
    assert!(built.expect("a C compiler").success());
    library
}

#[test]
fn a_program_with_address_sanitizer_starts_and_its_errors_are_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = some_library(&folder);
    let (source, program) = (folder.path().join("p.c"), folder.path().join("program"));
    let text = "#include <stdio.h>\n#include <stdlib.h>\nint main(int many, char **arguments) {\n\
                volatile char *block = malloc(8);\nvolatile int at = 6 + many;\nblock[at] = 1;\n\
                free((void *)block);\nreturn puts(arguments[0]) < 0;\n}\n";
    std::fs::write(&source, text).expect("it is written");
    let mut gcc = Command::new("gcc");
    let built = gcc.args(["-fsanitize=address", "-o"]).arg(&program).arg(&source).output();
    if !built.is_ok_and(|it| it.status.success()) {
        eprintln!("not run: there is no gcc that has AddressSanitizer");
        return;
    }
    let run = |more: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lockwright"));
        command.args(["run", "--library"]).arg(&library).arg("--").arg(&program).args(more);
        command.env("ASAN_OPTIONS", "exitcode=77").output().expect("it starts")
    };
    let well = run(&[]);
    assert_eq!(stdout(&well), format!("{}\n", program.display()), "{well:?}");
    let wrong = run(&["more"]);
    assert_eq!(wrong.status.code(), Some(77), "{wrong:?}");
    assert!(stderr(&wrong).contains("heap-buffer-overflow"), "{wrong:?}");
}

#[test]
fn a_program_sees_the_library_and_its_status_is_handed_on() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = some_library(&folder);
    let run = |before: &str, script: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lockwright"));
        command.args(["run", "--policy", "fair", "--library"]).arg(&library);
        command.args(["--", "sh", "-c", script]).env("LD_PRELOAD", before);
        command.output().expect("it starts")
    };
    let path = library.canonicalize().expect("a path").display().to_string();
    assert_eq!(stdout(&run("", "echo $LD_PRELOAD $LOCKWRIGHT_POLICY")), format!("{path} fair\n"));
    let other = folder.path().join("other.so").display().to_string();
    std::fs::copy(&library, &other).expect("it is copied");
    assert_eq!(stdout(&run(&other, "echo $LD_PRELOAD")), format!("{other}:{path}\n"));
    assert_eq!(run("", "exit 7").status.code(), Some(7));
    assert_eq!(run("", "kill -TERM $$").status.signal(), Some(15));
}

#[test]
fn an_installed_library_has_a_name_that_only_glibc_understands() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = some_library(&folder);
    for place in ["lib", "lib64", &format!("lib/{}-linux-gnu", std::env::consts::ARCH)] {
        let place = folder.path().join("lockwright").join(place);
        std::fs::create_dir_all(&place).expect("a folder");
        let link = place.join("liblockwright-pthread.so");
        std::os::unix::fs::symlink(&library, link).expect("a link");
    }
    let script = "echo $LD_PRELOAD; grep -c liblockwright-pthread /proc/self/maps";
    let mut command = Command::new(env!("CARGO_BIN_EXE_lockwright"));
    command.args(["run", "--library"]).arg(&library).args(["--", "sh", "-c", script]);
    let (output, folder) = (command.output().expect("it starts"), folder.path().display());
    let (name, mapped) =
        (format!("{folder}/lockwright/$LIB/liblockwright-pthread.so"), stdout(&output));
    let count = mapped.strip_prefix(&format!("{name}\n")).expect("the name");
    assert_ne!(count, "0\n", "{output:?}");
}

#[test]
fn what_cannot_be_run_is_said_in_a_sentence() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("suid");
    std::fs::copy("/bin/true", &path).expect("it is copied");
    let suid = path.display();
    for (line, part) in [
        ("run", "required"),
        ("run -- no-program-is-called-so", "there is no program `no-program-is-called-so`"),
        ("run --policy fifo -- true", "the policies are default, fair, cna"),
        ("run -- true", "cargo xtask install"),
        ("run --library /no/such/file.so -- true", "does not exist"),
    ] {
        let output = lockwright(line);
        assert_eq!(output.status.code(), Some(2), "{line}");
        let said = stderr(&output);
        assert!(said.contains(part) && said.lines().count() == 1, "{line}: {said}");
    }
    // Without the right to give a file away there is nothing to see.
    if std::os::unix::fs::chown(&path, Some(1), None).is_ok() {
        let mode = std::fs::Permissions::from_mode(0o4755);
        std::fs::set_permissions(&path, mode).expect("it is ours to change");
        let output = lockwright(&format!("run -- {suid}"));
        assert_eq!(output.status.code(), Some(2));
        assert!(stderr(&output).contains("other rights"), "{}", stderr(&output));
        assert!(stdout(&lockwright(&format!("run --check {suid}"))).contains(": no. "));
    }
}

#[test]
fn a_program_with_capabilities_of_its_own_is_not_started() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("program");
    std::fs::copy("/bin/true", &path).expect("it is copied");
    let mode = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(folder.path(), mode).expect("it is ours to change");
    // Version 2, effective, and the permitted capability `net_raw`.
    let words: [u32; 5] = [0x0200_0001, 1 << 13, 0, 0, 0];
    let value = words.map(u32::to_le_bytes).concat();
    let file = CString::new(path.as_os_str().as_bytes()).expect("a path");
    let (name, flags) = (c"security.capability", 0);
    // SAFETY: texts that end with zero, and a value of this length.
    let set = unsafe {
        let (file, name) = (file.as_ptr(), name.as_ptr());
        libc::setxattr(file, name, value.as_ptr().cast(), value.len(), flags)
    };
    if set != 0 {
        eprintln!("not run: only root can give capabilities to a file");
        return;
    }
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lockwright"));
        command.arg("run").args(arguments).arg("--").arg(&path).uid(65534);
        command.output()
    };
    let Ok(checked) = run(&["--check"]) else {
        eprintln!("not run: another user cannot start programs of this folder");
        return;
    };
    assert!(stdout(&checked).contains("other rights"), "{checked:?}");
    let output = run(&[]).expect("it starts");
    assert!(stderr(&output).contains("other rights"), "{output:?}");
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn a_check_says_what_a_program_imports_and_does_not_run_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let (source, program) = (folder.path().join("p.c"), folder.path().join("p"));
    let text = "#include <pthread.h>\n#include <stdlib.h>\nstatic pthread_mutex_t m;\n\
                int main(void) { pthread_mutex_lock(&m); abort(); }\n";
    std::fs::write(&source, text).expect("it is written");
    let compile = |more: &[&str]| {
        let mut cc = Command::new("cc");
        let built = cc.args(more).arg("-o").arg(&program).arg(&source).status();
        assert!(built.expect("a C compiler").success());
        let output = lockwright(&format!("run --check -- {}", program.display()));
        assert!(output.status.success(), "{}", stderr(&output));
        stdout(&output)
    };
    assert!(compile(&[]).contains("mutexes: 1 functions, such as pthread_mutex_lock"));
    assert!(compile(&["-static"]).contains("linked statically"));
    let this = lockwright(&format!("run --check {}", env!("CARGO_BIN_EXE_lockwright")));
    assert!(stdout(&this).contains("Rust are on futexes of their own"), "{}", stdout(&this));
}

#[test]
fn a_program_inherits_what_it_inherits_without_the_launcher() {
    let folder = tempfile::tempdir().expect("a folder");
    let program = folder.path().join("inherits");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/../pthread/tests/inherits.c");
    let built = Command::new("cc").arg("-o").arg(&program).arg(source).status();
    assert!(built.expect("a C compiler").success());
    let library = some_library(&folder);
    let words = [env!("CARGO_BIN_EXE_lockwright"), "run", "--library"].map(OsStr::new);
    let words = [&words[..], &[library.as_os_str(), "--".as_ref()]].concat();
    let different = inherited::differences(&program, &words);
    assert!(different.is_empty(), "{}", different.concat());
}

#[test]
fn what_the_user_has_set_stays() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = some_library(&folder);
    let run = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lockwright"));
        command.args(["run", "--library"]).arg(&library).args(arguments).env_remove("PATH");
        command.env("LOCKWRIGHT_POLICY", "fair").env("LOCKWRIGHT_VERBOSE", "1");
        stdout(
            &command
                .args(["--", "sh", "-c", "echo $LOCKWRIGHT_POLICY $LOCKWRIGHT_VERBOSE"])
                .output()
                .expect("it starts"),
        )
    };
    assert_eq!(run(&[]), "fair 1\n");
    assert_eq!(run(&["--policy", "cna"]), "cna 1\n");
}

#[test]
fn scripts_that_name_each_other_end_with_the_error_of_the_system() {
    let folder = tempfile::tempdir().expect("a folder");
    let library = some_library(&folder);
    let [a, b] = ["a", "b"].map(|name| folder.path().join(name));
    for (script, interpreter) in [(&a, &b), (&b, &a)] {
        std::fs::write(script, format!("#!{}\n", interpreter.display())).expect("it is written");
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(script, mode).expect("it is ours to change");
    }
    let (library, script) = (library.display(), a.display());
    let output = lockwright(&format!("run --library {library} -- {script}"));
    assert_eq!(output.status.code(), Some(2), "{output:?}");
    let error = std::io::Error::from_raw_os_error(libc::ELOOP).to_string();
    assert!(stderr(&output).contains(&error), "{}", stderr(&output));
    let checked = stdout(&lockwright(&format!("run --check -- {script}")));
    assert!(checked.contains("too many scripts"), "{checked}");
}
