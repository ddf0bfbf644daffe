// SPDX-License-Identifier: MIT OR Apache-2.0
/*
 * storm LOAD COUNT SECONDS: COUNT processes, or threads if the load's name ends in `t`, do LOAD for so long. It prints
 * how often, and how often something was not as it should be.
 *
 * Loads: fork a child and wait; open a file of its own (`opent`: in one table of descriptors); lock a range of one file
 * (`lockt`: by threads); make, rename and remove a file in one directory; send a byte through a pipe; map memory.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define WORKERS_MAX 64
#define MAPPED 65536
#define PAGE 4096

struct shared {
	atomic_ulong done, wrong;
};
static struct shared *shared;
static const char *load;
static struct timespec end;

static int is_over(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return now.tv_sec > end.tv_sec || (now.tv_sec == end.tv_sec && now.tv_nsec >= end.tv_nsec);
}

static int fork_once(void)
{
	pid_t pid = fork();
	int status = 0;

	if (!pid)
		_exit(7);
	return pid > 0 && waitpid(pid, &status, 0) == pid && WEXITSTATUS(status) == 7;
}
static int open_once(const char *name)
{
	int file = open(name, O_RDWR | O_CREAT, 0600);

	return file >= 0 && !close(file);
}
static int lock_once(long worker)
{
	static _Thread_local int file = -1;
	struct flock range = { .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = worker, .l_len = 1 };
	int is_right;

	if (file < 0)
		file = open("/run/storm.lock", O_RDWR | O_CREAT, 0600);
	is_right = !fcntl(file, F_SETLK, &range);
	range.l_type = F_UNLCK;
	return !fcntl(file, F_SETLK, &range) && is_right;
}
static int move_once(const char *name)
{
	char other[96];
	int file = open(name, O_RDWR | O_CREAT | O_EXCL, 0600);

	snprintf(other, sizeof(other), "%s.moved", name);
	return file >= 0 && !close(file) && !rename(name, other) && !unlink(other);
}
static int pipe_once(char sent)
{
	char got = 0;
	int ends[2];

	if (pipe(ends))
		return 0;
	if (write(ends[1], &sent, 1) != 1 || read(ends[0], &got, 1) != 1)
		got = sent + 1;
	return !close(ends[0]) && !close(ends[1]) && got == sent;
}
static int map_once(void)
{
	char *at = mmap(NULL, MAPPED, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int is_right = 1;

	if (at == MAP_FAILED)
		return 0;
	for (long page = 0; page < MAPPED; page += PAGE) {
		is_right &= !at[page];
		at[page] = 1;
	}
	return !munmap(at, MAPPED) && is_right;
}

static void *work(void *number)
{
	long worker = (long)number;
	unsigned long done = 0, wrong = 0;
	char name[80];

	snprintf(name, sizeof(name), "/run/storm.%s.%d.%ld", load, getpid(), worker);
	for (; !is_over(); done++) {
		int is_right = !strncmp(load, "fork", 4) ? fork_once() :
			       !strncmp(load, "open", 4) ? open_once(name) :
			       !strncmp(load, "lock", 4) ? lock_once(worker + (strcmp(load, "lock") ? 1000 : 0)) :
			       !strncmp(load, "dir", 3)  ? move_once(name) :
			       !strncmp(load, "pipe", 4) ? pipe_once((char)done) :
							   map_once();
		wrong += !is_right;
	}
	atomic_fetch_add(&shared->done, done);
	atomic_fetch_add(&shared->wrong, wrong);
	return NULL;
}

static int run_threads(long count)
{
	pthread_t threads[WORKERS_MAX];

	for (long i = 0; i < count; i++)
		if (pthread_create(&threads[i], NULL, work, (void *)i))
			return 3;
	for (long i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	return 0;
}
static int run_processes(long count)
{
	for (long i = 0; i < count; i++) {
		pid_t pid = fork();

		if (pid < 0)
			return 3;
		if (!pid) {
			work((void *)i);
			_exit(0);
		}
	}
	for (long i = 0; i < count; i++) {
		int status = 0;

		if (wait(&status) < 0 || status)
			atomic_fetch_add(&shared->wrong, 1);
	}
	return 0;
}

int main(int argc, char **argv)
{
	long count = argc == 4 ? atol(argv[2]) : 0;
	int error;

	if (count < 1 || count > WORKERS_MAX)
		return 2;
	load = argv[1];
	shared = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 3;
	clock_gettime(CLOCK_MONOTONIC, &end);
	end.tv_sec += atol(argv[3]);
	error = load[strlen(load) - 1] == 't' ? run_threads(count) : run_processes(count);
	printf("storm %s done %lu wrong %lu\n", load, atomic_load(&shared->done), atomic_load(&shared->wrong));
	return error ? error : atomic_load(&shared->wrong) != 0;
}
