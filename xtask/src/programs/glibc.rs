//! glibc's own tests of its locks, from Debian's package of its sources. They are unpacked and built when this runs,
//! and nothing of them is kept. A test has to end with our library as it ends without.

use super::needs;
use crate::limit::{self, Stopped};
use crate::workers;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

/// What the names of the tests begin with.
const TESTS: [&str; 12] = [
    "mutex",
    "cond",
    "rwlock",
    "spin",
    "robust",
    "mtx",
    "cnd",
    "thrd",
    "call-once",
    "cancel",
    "cleanup",
    "atfork",
];
/// Left out by `--quick`: each sleeps for 10 to 50 s.
const SLOW: [&str; 8] = [
    "tst-cond16",
    "tst-cond17",
    "tst-cond18",
    "tst-mutex10",
    "tst-rwlock20",
    "tst-rwlock-pwn",
    "tst-rwlock-tryrdlock-stall",
    "tst-rwlock-trywrlock-stall",
];
/// Never run: they start a program that may outlive them.
const LEAVES_A_PROCESS: [&str; 2] = ["tst-cancel7", "tst-cancelx7"];
/// They sleep more than they run.
const AT_ONCE: usize = 16;
/// A test ends by itself after at most 20 s, but for a few.
const LIMIT: Duration = Duration::from_secs(100);
/// A difference that does not show each time is one of the tests.
const ATTEMPTS: usize = 3;

/// Headers of glibc's own that tests include, and the macros that replace a header which cannot be used outside.
const HEADERS: [&str; 4] = ["intprops.h", "verify.h", "array_length.h", "libc-diag.h"];
const ATOMIC: &str = "\
#define atomic_store_relaxed(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define atomic_load_relaxed(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define atomic_fetch_add_relaxed(p, v) __atomic_fetch_add(p, v, __ATOMIC_RELAXED)
#define atomic_fetch_add_acq_rel(p, v) __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL)
";
/// Paths of an installed glibc, which these tests do not use.
const PATHS: [&str; 13] = [
    "SRCDIR",
    "OBJDIR",
    "OBJDIR_ELF_LDSO",
    "INSTDIR",
    "LIBDIR",
    "BINDIR",
    "SBINDIR",
    "SLIBDIR",
    "ROOTSBINDIR",
    "ROOTBINDIR",
    "COMPLOCALEDIR",
    "SYSCONFDIR",
    "ROOT",
];

/// The unpacked sources, and what is made from them.
struct Suite {
    sources: PathBuf,
    folder: PathBuf,
}

/// Builds and runs the tests. Returns false if one ends in another way with the library.
pub fn run(folder: &Path, library: &Path, is_quick: bool) -> Result<bool, String> {
    let began = Instant::now();
    let suite = Suite::unpacked(folder)?;
    suite.build_support()?;
    let tests: Vec<_> = suite.tests()?.into_iter().filter(|it| !is_quick || !is_slow(it)).collect();
    let built = workers::on_all(&tests, |test| Ok(suite.build_test(test)))?;
    workers::on_all(&["tst-atfork2mod", "tst-atfork4mod"], |name| suite.build_module(name))?;
    let (built, not_built): (Vec<_>, Vec<_>) = tests.iter().zip(built).partition(|(_, is)| *is);
    let names: Vec<_> = built.into_iter().map(|(test, _)| name_of(test)).collect();
    let with_and_without = |name: &String| {
        let without = suite.ends(name, None)?;
        Ok((without, suite.ends(name, Some(library))?))
    };
    let mut ends: BTreeMap<_, _> =
        names.iter().cloned().zip(workers::on_all_by(AT_ONCE, &names, with_and_without)?).collect();
    for (name, (without, with)) in &mut ends {
        let mut left = ATTEMPTS;
        while without != with && left > 0 {
            (*without, *with) = with_and_without(name)?;
            left -= 1;
        }
    }
    let passed = ends.values().filter(|(_, with)| *with == End::Passed).count();
    let both_fail: Vec<_> = ends
        .iter()
        .filter(|(_, (a, b))| a == b && *a != End::Passed)
        .map(|(n, _)| n.as_str())
        .collect();
    let unbuilt: Vec<_> = not_built.iter().map(|(test, _)| name_of(test)).collect();
    println!(
        "glibc's tests: {passed} of {} pass with the library; {} fail with and without it ({}); {} cannot be built \
         outside of glibc ({}); {:.0} s",
        ends.len(),
        both_fail.len(),
        both_fail.join(" "),
        unbuilt.len(),
        unbuilt.join(" "),
        began.elapsed().as_secs_f64()
    );
    let mut is_alike = true;
    for (name, (without, with)) in ends.iter().filter(|(_, (without, with))| without != with) {
        println!("glibc's test {name}: {without:?} with glibc's locks, {with:?} with the library");
        is_alike &= *with == End::Passed;
    }
    if passed < ends.len() / 2 {
        return Err(format!("only {passed} of {} tests of glibc pass at all", ends.len()));
    }
    Ok(is_alike)
}

/// How a test ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Passed,
    Failed,
    /// It says that it cannot run here.
    Unsupported,
}

impl Suite {
    fn unpacked(folder: &Path) -> Result<Self, String> {
        let archive = needs::glibc_sources().ok_or("the sources of glibc are gone")?;
        let folder = folder.join("glibc");
        // What another version has left is not to be mixed with this one.
        let _ = fs::remove_dir_all(&folder);
        for part in ["sources", "headers", "objects", "tests"] {
            fs::create_dir_all(folder.join(part)).map_err(|error| error.to_string())?;
        }
        let mut tar = Command::new("tar");
        tar.args(["--extract", "--strip-components=1", "--file"]).arg(archive);
        tar.arg("--directory").arg(folder.join("sources")).arg("--wildcards");
        tar.args(
            [
                "support",
                "nptl",
                "sysdeps/pthread",
                "include",
                "malloc",
                "elf/dl-tunables.h",
                "test-skeleton.c",
            ]
            .map(|it| format!("*/{it}")),
        );
        succeed(&mut tar)?;
        let sources = folder.join("sources");
        let suite = Self { sources, folder };
        let headers = suite.folder.join("headers");
        for header in HEADERS {
            let from = suite.sources.join("include").join(header);
            fs::copy(&from, headers.join(header))
                .map_err(|it| format!("{}: {it}", from.display()))?;
        }
        let made = [
            ("config.h", ""),
            ("atomic.h", ATOMIC),
            ("dso_handle.h", "extern void *__dso_handle;\n"),
        ];
        for (header, text) in made {
            fs::write(headers.join(header), text).map_err(|error| error.to_string())?;
        }
        Ok(suite)
    }

    fn gcc(&self) -> Command {
        let mut gcc = Command::new("gcc");
        gcc.current_dir(&self.sources).stdout(Stdio::null()).stderr(Stdio::null());
        gcc.args([
            "-O1",
            "-std=gnu11",
            "-fgnu89-inline",
            "-D_GNU_SOURCE",
            "-DTIMEOUTFACTOR=1",
            "-w",
        ]);
        gcc.args(["-include", "limits.h", "-I", "../headers", "-I", "support"]);
        gcc.args(["-iquote", "nptl", "-iquote", "sysdeps/pthread", "-idirafter", "."]);
        gcc.args(PATHS.map(|path| format!("-D{path}_PATH=\"/nowhere\"")));
        gcc
    }

    /// The library that tests are linked with, without the parts that need the inside of glibc.
    fn build_support(&self) -> Result<(), String> {
        let programs = ["tst-", "-container.c", "links-dso", "test-run-command"];
        let is_part = |name: &str| !programs.iter().any(|program| name.contains(program));
        let parts: Vec<_> = self
            .files("support")?
            .into_iter()
            .filter(|part| is_part(&part.to_string_lossy()))
            .collect();
        workers::on_all(&parts, |part| {
            let object = self.folder.join("objects").join(name_of(part)).with_extension("o");
            let mut gcc = self.gcc();
            gcc.arg("-c").arg(part).arg("-o").arg(object);
            limit::status_within(&mut gcc, LIMIT).map_err(|why| why.to_string())
        })?;
        let mut ar = Command::new("sh");
        ar.args(["-c", "ar rc support.a objects/*.o"]).current_dir(&self.folder);
        succeed(&mut ar)
    }

    /// The sources of the tests.
    fn tests(&self) -> Result<Vec<PathBuf>, String> {
        let mut tests = self.files("nptl")?;
        tests.extend(self.files("sysdeps/pthread")?);
        tests.retain(|path| {
            let name = name_of(path);
            let is_one =
                |of: &&str| name.strip_prefix("tst-").is_some_and(|rest| rest.starts_with(*of));
            let is_part =
                name.ends_with("mod") || name.ends_with("common") || name.contains("static");
            TESTS.iter().any(is_one) && !is_part && !LEAVES_A_PROCESS.contains(&name.as_str())
        });
        tests.sort();
        Ok(tests)
    }

    fn files(&self, folder: &str) -> Result<Vec<PathBuf>, String> {
        let entries =
            fs::read_dir(self.sources.join(folder)).map_err(|it| format!("{folder}: {it}"))?;
        let paths = entries.flatten().map(|entry| entry.path());
        Ok(paths.filter(|path| path.extension().is_some_and(|it| it == "c")).collect())
    }

    fn program(&self, name: &str) -> PathBuf {
        self.folder.join("tests").join(name)
    }

    fn build_test(&self, test: &Path) -> bool {
        let mut gcc = self.gcc();
        gcc.arg(test).arg("../support.a").arg("-o").arg(self.program(&name_of(test)));
        gcc.args(["-ldl", "-lrt", "-lm"]);
        limit::status_within(&mut gcc, LIMIT).is_ok_and(|status| status.success())
    }

    /// A library that a test opens.
    fn build_module(&self, name: &str) -> Result<(), String> {
        let mut gcc = self.gcc();
        gcc.args(["-shared", "-fPIC"]).arg(format!("sysdeps/pthread/{name}.c"));
        gcc.arg("-o").arg(self.program(name).with_extension("so"));
        limit::status_within(&mut gcc, LIMIT).map(|_| ()).map_err(|why| why.to_string())
    }

    /// Runs a test in a folder of its own.
    fn ends(&self, name: &str, library: Option<&Path>) -> Result<End, String> {
        let kind = if library.is_some() { "with" } else { "without" };
        let folder = self.folder.join(format!("{name}.{kind}"));
        fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
        // A file that one of them opens.
        fs::write(folder.join("Makefile"), "").map_err(|error| error.to_string())?;
        let mut test = Command::new(self.program(name));
        test.env("LD_LIBRARY_PATH", self.folder.join("tests"));
        test.current_dir(&folder).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        match library {
            Some(library) => test.env("LD_PRELOAD", library),
            None => test.env_remove("LD_PRELOAD"),
        };
        let end = match limit::status_within(&mut test, LIMIT) {
            Ok(status) if status.success() => End::Passed,
            Ok(status) if status.code() == Some(77) => End::Unsupported,
            Ok(_) | Err(Stopped::Late(_)) => End::Failed,
            Err(why) => return Err(format!("{name}: {why}")),
        };
        // What it has left there.
        let _ = fs::remove_dir_all(folder);
        Ok(end)
    }
}

fn is_slow(test: &Path) -> bool {
    SLOW.contains(&name_of(test).as_str())
}

fn name_of(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn succeed(command: &mut Command) -> Result<(), String> {
    match limit::status_within(command, LIMIT) {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(format!("{command:?}: {status}")),
        Err(why) => Err(format!("{command:?}: {why}")),
    }
}
