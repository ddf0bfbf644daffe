/* Finds the functions of glibc, and what else has to be known of it. */
#include "glibc.h"
#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#ifdef __x86_64__
#define VERSION(of_x86_64) "GLIBC_" of_x86_64
#else
/* The first glibc for aarch64 is 2.17, and has what was older. */
#define VERSION(of_x86_64) (strcmp(of_x86_64, "2.30") == 0 ? "GLIBC_2.30" : "GLIBC_2.17")
#endif

unsigned lw_shared_at = 36;
uint32_t lw_shared_bits = 1;

static void fail(const char *what, const char *name)
{
    const char *parts[] = {"lockwright: ", what, name, "\n"};
    for (unsigned i = 0; i < sizeof parts / sizeof *parts; i++)
        if (write(2, parts[i], strlen(parts[i])) < 0)
            break;
    abort();
}

/* Names in ThreadSanitizer's library, which has to see the calls, have no version. */
static void *find(const char *name, const char *version)
{
    void *found = __tsan_init == NULL ? dlvsym(RTLD_NEXT, name, version) : NULL;
    if (found == NULL)
        found = dlsym(RTLD_NEXT, name);
    if (found == NULL)
        fail("the C library has no ", name);
    return found;
}

enum lw_standing lw_standing;

/* Valgrind answers this sequence of instructions, which changes nothing for a processor. Request 0x1001 asks if it is. */
static bool is_under_valgrind(void)
{
    volatile uint64_t request[6] = {0x1001};
    uint64_t answer = 0;
#if defined(__x86_64__)
    __asm__ volatile("rolq $3, %%rdi; rolq $13, %%rdi; rolq $61, %%rdi; rolq $51, %%rdi; xchgq %%rbx, %%rbx"
                     : "+d"(answer) : "a"(request) : "cc", "memory");
#elif defined(__aarch64__)
    register uint64_t result __asm__("x3") = answer;
    register volatile uint64_t *arguments __asm__("x4") = request;
    __asm__ volatile("ror x12, x12, #3; ror x12, x12, #13; ror x12, x12, #51; ror x12, x12, #61; orr x10, x10, x10"
                     : "+r"(result) : "r"(arguments) : "cc", "memory");
    answer = result;
#endif
    return answer != 0;
}

enum lw_standing lw_decide_standing(void)
{
    static const char said[] = "lockwright: the locks stay those of glibc, because this program runs under a tool that "
                               "watches them\n";
    enum lw_standing undecided = LW_UNDECIDED;
    enum lw_standing decided = __tsan_init != NULL || is_under_valgrind() ? LW_ASIDE : LW_OURS;
    bool is_first = __atomic_compare_exchange_n(&lw_standing, &undecided, decided, false, __ATOMIC_RELAXED,
                                                __ATOMIC_RELAXED);
    if (is_first && decided == LW_ASIDE && write(2, said, sizeof said - 1) < 0)
        return decided;
    return decided;
}

/* Each is looked up when it is first needed, which may be before the constructor, and at the latest by that. */
#define DEFINE(name, version, parameters, arguments)                                                \
    static int(*found_##name) parameters;                                                           \
    static __attribute__((noinline, cold)) void find_##name(void)                                   \
    {                                                                                               \
        void *found = find("pthread_" #name, VERSION(version));                                     \
        __atomic_store_n(&found_##name, (int(*) parameters)found, __ATOMIC_RELAXED);                \
    }                                                                                               \
    int lw_glibc_##name parameters                                                                  \
    {                                                                                               \
        if (__atomic_load_n(&found_##name, __ATOMIC_RELAXED) == NULL)                               \
            find_##name();                                                                          \
        return __atomic_load_n(&found_##name, __ATOMIC_RELAXED) arguments;                          \
    }
LW_FUNCTIONS(DEFINE)

/* glibc tells debuggers where it keeps the number of a thread. */
static void find_tid(void)
{
    const uint32_t *field = dlsym(RTLD_DEFAULT, "_thread_db_pthread_tid");
    if (field == NULL || field[0] != 32)
        return;
    const char *thread = (const char *)pthread_self() + field[2];
    if (*(const pid_t *)thread == gettid())
        lw_set_tid_offset(thread - (const char *)__builtin_thread_pointer());
}

/* Where glibc marks a condition variable that is shared between processes has changed. */
static void find_shared_mark(void)
{
    pthread_cond_t condvar;
    pthread_condattr_t attributes;
    uint32_t words[sizeof condvar / 4];
    memset(&condvar, 0, sizeof condvar);
    pthread_condattr_init(&attributes);
    pthread_condattr_setpshared(&attributes, PTHREAD_PROCESS_SHARED);
    lw_glibc_cond_init(&condvar, &attributes);
    pthread_condattr_destroy(&attributes);
    memcpy(words, &condvar, sizeof words);
    for (unsigned i = 0; i < sizeof words / 4; i++) {
        if (words[i] != 0) {
            lw_shared_at = i * 4;
            lw_shared_bits = words[i];
            /* The first 28 bytes are in use by private ones. */
            if (i < 7)
                fail("condition variables of this C library are not known", "");
            return;
        }
    }
    fail("condition variables of this C library are not known", "");
}

/* If a relocation names a function that makes threads. */
static bool has_such_name(const ElfW(Rela) *relocations, size_t size, const ElfW(Sym) *symbols, const char *names)
{
    for (size_t i = 0; i < size / sizeof *relocations; i++) {
        const char *name = names + symbols[ELF64_R_SYM(relocations[i].r_info)].st_name;
        if (strcmp(name, "pthread_create") == 0 || strcmp(name, "thrd_create") == 0)
            return true;
    }
    return false;
}

static int makes_threads(struct dl_phdr_info *object, size_t size, void *unused)
{
    (void)size, (void)unused;
    /* By their tags. The dynamic linker has added the address of the object, where it could write. */
    uintptr_t of[DT_NUM] = {0}, base = object->dlpi_addr;
    size_t relative = 0;
    for (unsigned i = 0; i < object->dlpi_phnum; i++) {
        if (object->dlpi_phdr[i].p_type != PT_DYNAMIC)
            continue;
        for (const ElfW(Dyn) *entry = (void *)(base + object->dlpi_phdr[i].p_vaddr); entry->d_tag != DT_NULL; entry++) {
            if (entry->d_tag == DT_RELACOUNT)
                relative = entry->d_un.d_val * sizeof(ElfW(Rela));
            else if (entry->d_tag < DT_NUM)
                of[entry->d_tag] = entry->d_un.d_val;
        }
    }
#define ADDRESS(tag) ((const void *)(of[tag] < base ? of[tag] + base : of[tag]))
    if (of[DT_SYMTAB] == 0 || of[DT_STRTAB] == 0)
        return false;
    const ElfW(Sym) *symbols = ADDRESS(DT_SYMTAB);
    const char *names = ADDRESS(DT_STRTAB), *others = ADDRESS(DT_RELA);
    /* Those without a name come first. */
    return has_such_name(ADDRESS(DT_JMPREL), of[DT_PLTRELSZ], symbols, names) ||
           (of[DT_RELASZ] > relative &&
            has_such_name((const void *)(others + relative), of[DT_RELASZ] - relative, symbols, names));
}

static __attribute__((constructor)) void prepare(void)
{
#define FIND(name, version, parameters, arguments) find_##name();
    LW_FUNCTIONS(FIND)
    find_shared_mark();
    if (lw_stands_aside())
        return;
    find_tid();
    lw_read_choices();
    lw_prepare(dl_iterate_phdr(makes_threads, NULL) != 0);
    lw_follow_forks();
    lw_choices_are_made();
}
