# Unpacks glibc's sources, the archive $1, and builds its tests of locks in the current folder: those whose path matches
# the pattern $2. Prints the name of each; one that cannot be built outside of glibc leaves no program in `tests`.
set -e
export LC_ALL=C
mkdir sources headers objects tests
tar --extract --strip-components=1 --file "$1" --directory sources --wildcards '*/support' '*/nptl' \
    '*/sysdeps/pthread' '*/include' '*/malloc' '*/elf/dl-tunables.h' '*/test-skeleton.c'

# Headers of glibc's own that tests include, and the macros that replace a header which cannot be used outside.
for header in intprops verify array_length libc-diag; do
    cp sources/include/$header.h headers
done
: >headers/config.h
echo 'extern void *__dso_handle;' >headers/dso_handle.h
cat >headers/atomic.h <<END
#define atomic_store_relaxed(p, v) __atomic_store_n(p, v, __ATOMIC_RELAXED)
#define atomic_load_relaxed(p) __atomic_load_n(p, __ATOMIC_RELAXED)
#define atomic_fetch_add_relaxed(p, v) __atomic_fetch_add(p, v, __ATOMIC_RELAXED)
#define atomic_fetch_add_acq_rel(p, v) __atomic_fetch_add(p, v, __ATOMIC_ACQ_REL)
END
# Paths of an installed glibc, which these tests do not use.
for path in SRCDIR OBJDIR OBJDIR_ELF_LDSO INSTDIR LIBDIR BINDIR SBINDIR SLIBDIR ROOTSBINDIR ROOTBINDIR COMPLOCALEDIR \
    SYSCONFDIR ROOT; do
    echo "#define ${path}_PATH \"/nowhere\""
done >headers/folders.h

cd sources
cc='timeout 100 gcc -O1 -std=gnu11 -fgnu89-inline -D_GNU_SOURCE -DTIMEOUTFACTOR=1 -w -include limits.h
    -include ../headers/folders.h -I ../headers -I support -iquote nptl -iquote sysdeps/pthread -idirafter .'
# Compiles files, two at a time. What does not compile is left out.
each() {
    xargs -P 2 -I FILE sh -c "name=\$(basename FILE .c); $(echo $cc) FILE $1 2>/dev/null || :"
}

# The library that tests are linked with, without the parts that need the inside of glibc.
ls support/*.c | grep -v -e tst- -e '-container\.c' -e links-dso -e test-run-command |
    each '-c -o ../objects/$name.o'
ar rc ../support.a ../objects/*.o
# Libraries that tests open.
ls sysdeps/pthread/tst-atfork[24]mod.c | each '-shared -fPIC -o ../tests/$name.so'
ls nptl/tst-*.c sysdeps/pthread/tst-*.c | grep -E "$2" | grep -v -E '(mod|common)\.c|static' >../sources.txt
each '../support.a -o ../tests/$name -ldl -lrt -lm' <../sources.txt
sed 's,.*/,,; s,\.c$,,' ../sources.txt
