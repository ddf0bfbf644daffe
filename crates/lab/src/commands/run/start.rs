//! Finds the library and starts the program.

use super::{check, inherited, program};
use clap::Args;
use lockwright_measure::error::Error;
use lockwright_sheets::complain;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::{env, fs, io};

const LIBRARY: &str = "liblockwright-pthread.so";
/// Its folders below a prefix.
const FOLDERS: [&str; 2] = ["lib", "lib64"];
/// How waiters of mutexes get them, as `crates/pthread` knows it.
const POLICIES: [&str; 3] = ["default", "fair", "cna"];

/// Arguments of `run`.
#[derive(Clone, Debug, Args)]
pub struct RunArgs {
    /// How waiters of mutexes get them: default, fair (an unlock gives the mutex
    /// to a thread that sleeps), cna (those of one NUMA node after another)
    /// [default: $LOCKWRIGHT_POLICY, else default]
    #[arg(long, value_name = "NAME")]
    policy: Option<String>,
    /// When the program ends, say on standard error which locks it used
    #[arg(long)]
    verbose: bool,
    /// Do not run it: say if it can profit
    #[arg(long)]
    check: bool,
    /// liblockwright-pthread.so, as `cargo xtask install` makes it [default:
    /// $LOCKWRIGHT_LIBRARY, else ../lib next to this program]
    #[arg(long, value_name = "FILE")]
    library: Option<PathBuf>,
    /// The program and its arguments
    #[arg(
        value_name = "PROGRAM",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    program: Vec<OsString>,
}

/// Starts the program in the place of this one. Returns only if that fails, or if nothing was to be started.
pub fn run(args: &RunArgs) -> Result<ExitCode, Error> {
    let name = args.program.first().map_or(OsStr::new(""), OsString::as_os_str);
    let shown = name.to_string_lossy();
    let Some(path) = program::find(name) else {
        return Err(Error::usage(format!("there is no program `{shown}`; give its path")));
    };
    if args.check {
        return check::check(&path).map(|()| ExitCode::SUCCESS);
    }
    if let Some(typed) = args.policy.as_ref().filter(|it| !POLICIES.contains(&it.as_str())) {
        let all = POLICIES.join(", ");
        return Err(Error::usage(format!("there is no policy `{typed}`; the policies are {all}")));
    }
    if program::has_other_rights(&path) {
        return Err(Error::usage(format!(
            "`{shown}` runs with other rights than its user's, so the dynamic linker takes no \
             library for it; run it without `lockwright run`"
        )));
    }
    if program::has_asan_of_library(&path) {
        do_without_first_place();
    }
    let library = library(args.library.as_deref())?;
    if program::has_locks_of_musl(&path) {
        complain(&format!(
            "lockwright: `{shown}` keeps its locks: its C library is musl, not glibc"
        ));
    } else {
        let name = for_each_system(&library).unwrap_or(library);
        set("LD_PRELOAD", &preload(&name, env::var_os("LD_PRELOAD").as_deref()));
    }
    if let Some(policy) = &args.policy {
        set("LOCKWRIGHT_POLICY", OsStr::new(policy));
    }
    if args.verbose {
        set("LOCKWRIGHT_VERBOSE", OsStr::new("1"));
    }
    inherited::restore();
    let error = execute(&path, &args.program);
    Err(Error::usage(format!("`{shown}` does not start: {error}")))
}

/// Changes one variable. All others stay as they are, also those that are there twice or have no value.
fn set(name: &str, value: &OsStr) {
    // SAFETY: this process has one thread.
    unsafe { env::set_var(name, value) };
}

/// Starts the program in the place of this one. Returns only if that fails. The standard library would also change what
/// happens at a signal.
fn execute(path: &Path, arguments: &[OsString]) -> io::Error {
    let path = program::text(path.as_os_str());
    let arguments: Vec<_> = arguments.iter().map(|it| program::text(it)).collect();
    let pointers = arguments.iter().map(|argument| argument.as_ptr());
    let pointers: Vec<_> = pointers.chain([std::ptr::null()]).collect();
    // SAFETY: texts that end with zero, and a list of such that ends with null.
    unsafe { libc::execvp(path.as_ptr(), pointers.as_ptr()) };
    io::Error::last_os_error()
}

/// What the dynamic linker is to load: what is there, and ours behind it. Libraries that wrap the same functions call
/// the next one, so they reach ours, and some have to be the first.
fn preload(library: &Path, before: Option<&OsStr>) -> OsString {
    let mut all = before.unwrap_or_default().to_owned();
    if !all.is_empty() {
        all.push(":");
    }
    all.push(library);
    all
}

/// The library: the one that is named, or the one that was installed with this program.
fn library(named: Option<&Path>) -> Result<PathBuf, Error> {
    let of_environment = env::var_os("LOCKWRIGHT_LIBRARY").map(PathBuf::from);
    let file = match named.map(Path::to_owned).or(of_environment) {
        Some(file) => file,
        None => installed().ok_or_else(|| {
            Error::usage(format!(
                "{LIBRARY} is not in ../lib next to this program; type `cargo xtask install \
                 --prefix DIR` and give `--library DIR/lib/{LIBRARY}`"
            ))
        })?,
    };
    let unusable = |why: &str| {
        let file = file.display();
        Error::usage(format!("the library `{file}` {why}; give the path of {LIBRARY}"))
    };
    let path = fs::canonicalize(&file).map_err(|_| unusable("does not exist"))?;
    if !path.is_file() {
        return Err(unusable("is not a file"));
    }
    // The dynamic linker separates names by these.
    if path.as_os_str().as_encoded_bytes().iter().any(|byte| b" :".contains(byte)) {
        return Err(unusable("has a blank or a colon in its path, which the linker cannot read"));
    }
    Ok(path)
}

/// The name by which only glibc finds the library, if `cargo xtask install` has put it there. The program may start
/// others, whose C library is musl.
fn for_each_system(library: &Path) -> Option<PathBuf> {
    let folder = library.parent()?.join("lockwright");
    let link = fs::canonicalize(folder.join("lib64").join(LIBRARY)).ok()?;
    (link == library).then(|| folder.join("$LIB").join(LIBRARY))
}

fn installed() -> Option<PathBuf> {
    let program = env::current_exe().ok()?;
    let prefix = program.parent()?.parent()?;
    let places = FOLDERS.iter().map(|folder| prefix.join(folder).join(LIBRARY));
    places.into_iter().find(|path| path.is_file())
}

/// AddressSanitizer wants to be the first library of a program, and ours has nothing that it replaces. What the user
/// says of it comes later, so it counts.
fn do_without_first_place() {
    const NAME: &str = "ASAN_OPTIONS";
    let mut options = OsString::from("verify_asan_link_order=0:");
    options.push(env::var_os(NAME).unwrap_or_default());
    set(NAME, &options);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_preloaded_before_stays_in_front() {
        let all = |before: &str| preload(Path::new("/l.so"), Some(OsStr::new(before)));
        assert_eq!(all("/a.so:/b.so"), "/a.so:/b.so:/l.so");
        assert_eq!(all(""), "/l.so");
        assert_eq!(preload(Path::new("/l.so"), None), "/l.so");
    }
}
