/* Says which functions are not those of the library whose path is given, however they are looked up. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static const char *library;
static int wrong;

static void expect(const char *how, const char *name, const char *version, void *found)
{
    Dl_info info;
    if (found != NULL && dladdr(found, &info) != 0 && strcmp(info.dli_fname, library) == 0)
        return;
    printf("%s %s %s: %s\n", how, name, version, found == NULL ? "nothing" : "another library's");
    wrong = 1;
}

static void look_up(const char *name, const char *version)
{
    char full[32];
    expect("dlsym", name, "", dlsym(RTLD_DEFAULT, name));
    snprintf(full, sizeof full, "GLIBC_%s", version);
    expect("dlvsym", name, full, dlvsym(RTLD_DEFAULT, name, full));
    expect("the next", name, full, dlvsym(RTLD_NEXT, name, full));
}

static const char *of_2_2_5[] = {"init", "destroy", "lock", "unlock"};
static const char *of_mutex_2_34[] = {"trylock", "timedlock"};
static const char *of_rwlock[] = {"init",     "destroy",   "rdlock",      "wrlock",     "tryrdlock",
                                  "trywrlock", "timedrdlock", "timedwrlock", "unlock"};
static const char *of_2_30[] = {"mutex_clocklock", "cond_clockwait", "rwlock_clockrdlock", "rwlock_clockwrlock"};
static const char *of_cond[] = {"init", "destroy", "wait", "timedwait", "signal", "broadcast"};
static const char *of_c11[] = {"mtx_init",    "mtx_destroy", "mtx_lock", "mtx_trylock",   "mtx_timedlock", "mtx_unlock",
                               "cnd_init",    "cnd_destroy", "cnd_wait", "cnd_timedwait", "cnd_signal",    "cnd_broadcast"};

#define FOR_EACH(name, names) for (const char **name = (names); name < (names) + sizeof(names) / sizeof *(names); name++)

int main(int count, char **arguments)
{
    char name[64];
    library = arguments[count - 1];
#ifdef __x86_64__
    const char *oldest = "2.2.5", *of_condvars = "2.3.2";
#else
    const char *oldest = "2.17", *of_condvars = "2.17";
#endif
    FOR_EACH(of, of_2_2_5) {
        snprintf(name, sizeof name, "pthread_mutex_%s", *of);
        look_up(name, oldest);
    }
    FOR_EACH(of, of_mutex_2_34) {
        snprintf(name, sizeof name, "pthread_mutex_%s", *of);
        look_up(name, oldest);
        look_up(name, "2.34");
    }
    FOR_EACH(of, of_rwlock) {
        snprintf(name, sizeof name, "pthread_rwlock_%s", *of);
        look_up(name, oldest);
        look_up(name, "2.34");
    }
    FOR_EACH(of, of_2_30) {
        snprintf(name, sizeof name, "pthread_%s", *of);
        look_up(name, "2.30");
        look_up(name, "2.34");
    }
    FOR_EACH(of, of_cond) {
        snprintf(name, sizeof name, "pthread_cond_%s", *of);
        look_up(name, of_condvars);
    }
    FOR_EACH(of, of_c11) {
        look_up(*of, "2.28");
        look_up(*of, "2.34");
    }
    return wrong;
}
