//! What kind of file a program is.

use object::read::elf::{ElfFile64, FileHeader, ProgramHeader};
use object::{Object, ObjectSegment, ObjectSymbol, ReadCache, elf::FileHeader64};
use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// A program as a file.
#[derive(Debug, PartialEq, Eq)]
pub enum ProgramFile {
    /// A text that another program interprets.
    Script {
        /// That program.
        interpreter: PathBuf,
    },
    /// What this computer can run by itself.
    Elf(Elf),
    /// Anything else, also programs for other computers.
    Other,
}

/// What a dynamically linked program says about itself.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Elf {
    /// It needs no dynamic linker, so no library can be put in front.
    pub is_static: bool,
    /// Its dynamic linker and its locks are those of musl.
    pub is_of_musl: bool,
    /// The functions of pthread and C11 threads that it, or a library that it names, imports.
    pub imports: BTreeSet<String>,
    /// Languages whose locks are on futexes of their own.
    pub own_locks: BTreeSet<&'static str>,
}

/// Where the program is, as a shell finds it.
pub fn find(name: &OsStr) -> Option<PathBuf> {
    let is_program =
        |path: &Path| fs::metadata(path).is_ok_and(|it| it.is_file()) && may_start(path);
    let path = Path::new(name);
    if path.components().count() > 1 || name.as_encoded_bytes().contains(&b'/') {
        return is_program(path).then(|| path.to_owned());
    }
    // Where the C library looks if nothing is said.
    let folders = env::var_os("PATH").unwrap_or_else(|| "/bin:/usr/bin".into());
    env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| is_program(path))
}

/// As the C library wants it. What comes from a command line or a variable has no zero byte inside.
pub fn text(text: &OsStr) -> CString {
    CString::new(text.as_bytes()).unwrap_or_default()
}

/// Returns true if this process may start it.
fn may_start(path: &Path) -> bool {
    let path = text(path.as_os_str());
    // SAFETY: a text that ends with zero.
    unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::X_OK, libc::AT_EACCESS) == 0 }
}

/// Returns true if the program runs with other rights than its user's. The dynamic linker then takes no library that
/// the user names. The capabilities of a file are no news for root.
pub fn has_other_rights(path: &Path) -> bool {
    // SAFETY: these only return numbers.
    let user = unsafe { libc::getuid() };
    // SAFETY: as above.
    let group = unsafe { libc::getgid() };
    fs::metadata(path).is_ok_and(|it| {
        let sets = |bit| it.mode() & bit != 0;
        sets(libc::S_ISUID) && it.uid() != user
            || sets(libc::S_ISGID) && it.gid() != group
            || user != 0 && has_capabilities(path)
    })
}

fn has_capabilities(path: &Path) -> bool {
    let (path, name) = (text(path.as_os_str()), c"security.capability");
    // SAFETY: texts that end with zero; without room for it, only the length of the value is returned.
    unsafe { libc::getxattr(path.as_ptr(), name.as_ptr(), std::ptr::null_mut(), 0) >= 0 }
}

/// Reads the file.
pub fn read(path: &Path) -> std::io::Result<ProgramFile> {
    let bytes = fs::read(path)?;
    if let Some(interpreter) = interpreter(&bytes) {
        return Ok(ProgramFile::Script { interpreter });
    }
    let Some(mut elf) = of_elf(&bytes) else { return Ok(ProgramFile::Other) };
    for library in libraries(path).iter().filter(|_| !elf.is_static) {
        let of_library = fs::read(library).ok().and_then(|bytes| of_elf(&bytes));
        elf.imports.extend(of_library.into_iter().flat_map(|it| it.imports));
    }
    Ok(ProgramFile::Elf(elf))
}

/// The program that interprets a script.
fn interpreter(script: &[u8]) -> Option<PathBuf> {
    let line = script.strip_prefix(b"#!")?.split(|&byte| byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line);
    let mut words = line.split_whitespace();
    let first = words.next().unwrap_or_default();
    let is_env = Path::new(first).file_name() == Some(OsStr::new("env"));
    let named = words.find(|word| !word.starts_with('-')).filter(|_| is_env);
    Some(named.and_then(|name| find(OsStr::new(name))).unwrap_or_else(|| first.into()))
}

/// What the file says; nothing if it is not for this computer.
fn of_elf(bytes: &[u8]) -> Option<Elf> {
    let file = ElfFile64::<object::Endianness>::parse(bytes).ok()?;
    let is_ours = match file.architecture() {
        object::Architecture::X86_64 => cfg!(target_arch = "x86_64"),
        object::Architecture::Aarch64 => cfg!(target_arch = "aarch64"),
        _ => false,
    };
    if !is_ours {
        return None;
    }
    let linker = linker(bytes);
    let mut of = Elf {
        is_static: linker.is_none(),
        is_of_musl: linker.is_some_and(is_of_musl),
        ..Elf::default()
    };
    for symbol in file.dynamic_symbols().filter(|symbol| symbol.is_undefined()) {
        let name = symbol.name().unwrap_or_default();
        if is_lock(name) {
            of.imports.insert(name.to_owned());
        }
        if name == "JLI_Launch" {
            of.own_locks.insert("Java");
        }
    }
    if [".go.buildinfo", ".gopclntab"].iter().any(|name| file.section_by_name(name).is_some()) {
        of.own_locks.insert("Go");
    }
    let has = |word: &[u8]| {
        let data = file.segments().filter_map(|segment| segment.data().ok());
        data.into_iter().any(|data| data.windows(word.len()).any(|at| at == word))
    };
    if has(b"/library/std/src/") && has(b"/rustc/") {
        of.own_locks.insert("Rust");
    }
    Some(of)
}

/// The path of the dynamic linker that the program asks for. The start of the file is enough.
fn linker(bytes: &[u8]) -> Option<&[u8]> {
    let header = FileHeader64::<object::Endianness>::parse(bytes).ok()?;
    let endian = header.endian().ok()?;
    let mut segments = header.program_headers(endian, bytes).ok()?.iter();
    segments.find_map(|segment| segment.interpreter(endian, bytes).ok().flatten())
}

fn is_of_musl(linker: &[u8]) -> bool {
    let name = linker.rsplit(|&byte| byte == b'/').next().unwrap_or_default();
    name.starts_with(b"ld-musl-")
}

/// A script whose interpreter is a script, and so on: the kernel starts no longer chains than that.
pub const SCRIPTS_MAX: usize = 5;

/// Returns true if the program, or the one that interprets it, has the locks of musl.
pub fn has_locks_of_musl(path: &Path) -> bool {
    const START: u64 = 1 << 16;
    let mut path = path.to_owned();
    for _ in 0..=SCRIPTS_MAX {
        let mut start = Vec::new();
        let file = fs::File::open(&path).map(|file| file.take(START));
        let is_read = file.and_then(|mut file| file.read_to_end(&mut start));
        match interpreter(&start) {
            Some(program) => path = program,
            None => return is_read.is_ok() && linker(&start).is_some_and(is_of_musl),
        }
    }
    // It will not start.
    false
}

/// Returns true if the program is one of gcc's AddressSanitizer: it gets that from a library.
pub fn has_asan_of_library(path: &Path) -> bool {
    let Ok(file) = fs::File::open(path) else { return false };
    // Only what is looked at is read: programs may be large.
    let cache = ReadCache::new(file);
    let Ok(elf) = ElfFile64::<object::Endianness, _>::parse(&cache) else { return false };
    let mut imports = elf.dynamic_symbols().filter(|symbol| symbol.is_undefined());
    imports.any(|symbol| symbol.name() == Ok("__asan_init"))
}

/// The objects that are ours, and how the names of their functions begin.
pub const OBJECTS: [(&str, &[&str]); 3] = [
    ("mutexes", &["pthread_mutex_", "mtx_"]),
    ("condition variables", &["pthread_cond_", "cnd_"]),
    ("reader-writer locks", &["pthread_rwlock_"]),
];

fn is_lock(name: &str) -> bool {
    let mut prefixes = OBJECTS.iter().flat_map(|(_, prefixes)| *prefixes);
    prefixes.any(|prefix| name.starts_with(prefix)) && !name.contains("attr")
}

/// The libraries that the dynamic linker loads for it, but those of the C library itself. It lists them without running
/// the program.
fn libraries(path: &Path) -> Vec<PathBuf> {
    const LINKERS: [&str; 2] = ["/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1"];
    let Some(linker) = LINKERS.into_iter().find(|it| Path::new(it).exists()) else { return vec![] };
    let listed = std::process::Command::new(linker).arg("--list").arg(path).output();
    let text = listed.map(|it| it.stdout).unwrap_or_default();
    let path_of = |line: &str| {
        let path = line.split("=> ").nth(1)?.split(" (").next()?;
        let name = Path::new(path).file_name()?.to_string_lossy().into_owned();
        let is_c = ["libc.so", "libpthread.so", "ld-linux"].iter().any(|it| name.starts_with(it));
        (!is_c).then(|| path.into())
    };
    String::from_utf8_lossy(&text).lines().filter_map(path_of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_program_is_found_as_a_shell_finds_it() {
        assert!(find(OsStr::new("sh")).is_some_and(|path| path.is_absolute()));
        assert_eq!(find(OsStr::new("no-program-is-called-so")), None);
        assert_eq!(find(OsStr::new("./Cargo.toml")), None, "it is not to be executed");
    }

    #[test]
    fn a_script_names_its_interpreter() {
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        file.write_all(b"#!/usr/bin/env -S sh -e\necho\n").expect("it is written");
        let shell = find(OsStr::new("sh")).expect("there is a shell");
        let script = read(file.path()).expect("it is read");
        assert_eq!(script, ProgramFile::Script { interpreter: shell });
    }

    #[test]
    fn this_test_is_a_rust_program_and_a_text_is_no_program() {
        let this = env::current_exe().expect("it has a file");
        let Ok(ProgramFile::Elf(elf)) = read(&this) else { panic!("{}", this.display()) };
        assert!(!elf.is_static && elf.own_locks.contains("Rust"), "{elf:?}");
        let text = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        assert_eq!(read(&text).ok(), Some(ProgramFile::Other));
    }

    #[test]
    fn a_program_of_musl_names_its_linker() {
        assert!(is_of_musl(b"/lib/ld-musl-x86_64.so.1"));
        assert!(!is_of_musl(b"/lib64/ld-linux-x86-64.so.2"));
        let here = env::current_exe().expect("this program");
        assert_eq!(has_locks_of_musl(&here), cfg!(target_env = "musl"));
    }

    #[test]
    fn attributes_are_no_locks() {
        assert!(is_lock("pthread_mutex_lock") && is_lock("cnd_wait"));
        assert!(!is_lock("pthread_mutexattr_init") && !is_lock("pthread_create"));
    }
}
