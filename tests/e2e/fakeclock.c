/* A library to preload into the recorder, which gives it a wall clock that runs faster and leaps as
 * a test wishes. What the clock shows is in the file that $FAKECLOCK names (struct fakeclock, which
 * scripts/soak.sh and fakeclock.py write), and may be changed while programs run.
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

#pragma GCC visibility push(default)

#define NS_PER_SEC INT64_C(1000000000)

/* At `real_ns` (CLOCK_BOOTTIME) the clock shows `wall_ns`; from there on it is `rate` times as
 * fast, and `leap_ns` ahead. */
struct fakeclock {
	int64_t real_ns, wall_ns, rate, leap_ns;
};

static struct fakeclock none = {.rate = 1};
static const volatile struct fakeclock *fake = &none;

__attribute__((constructor)) static void begin(void)
{
	const char *path = getenv("FAKECLOCK");
	int fd = path ? open(path, O_RDONLY | O_CLOEXEC) : -1;
	void *map;

	if (fd < 0)
		return;
	map = mmap(NULL, sizeof(*fake), PROT_READ, MAP_SHARED, fd, 0);
	if (map != MAP_FAILED)
		fake = map;
	close(fd);
}

static int64_t real_now(clockid_t clock)
{
	struct timespec ts = {0};

	syscall(SYS_clock_gettime, clock, &ts);
	return ts.tv_sec * NS_PER_SEC + ts.tv_nsec;
}

static struct timespec to_timespec(int64_t ns)
{
	return (struct timespec){ns / NS_PER_SEC, ns % NS_PER_SEC};
}

static int64_t wall_now(void)
{
	return fake->wall_ns + (real_now(CLOCK_BOOTTIME) - fake->real_ns) * fake->rate +
		fake->leap_ns;
}

/* NOLINTBEGIN(readability-inconsistent-declaration-parameter-name): libc's names are its own. */

/* CLOCK_MONOTONIC is left alone: waits go by it, and pass in the kernel. */
int clock_gettime(clockid_t clock, struct timespec *ret)
{
	if (fake == &none || (clock != CLOCK_REALTIME && clock != CLOCK_BOOTTIME))
		return (int)syscall(SYS_clock_gettime, clock, ret);
	*ret = to_timespec(
		clock == CLOCK_REALTIME ? wall_now() : real_now(CLOCK_BOOTTIME) * fake->rate);
	return 0;
}

/* When the fake clock shows `wall`, by the real one. */
static struct timespec to_real(struct timespec wall)
{
	int64_t left = wall.tv_sec * NS_PER_SEC + wall.tv_nsec - wall_now();

	return to_timespec(real_now(CLOCK_REALTIME) + (left > 0 ? left / fake->rate : 0));
}

int timerfd_settime(int fd, int flags, const struct itimerspec *wish, struct itimerspec *ret)
{
	struct itimerspec real = *wish;
	int64_t period = wish->it_interval.tv_sec * NS_PER_SEC + wish->it_interval.tv_nsec;

	if (fake != &none && flags & TFD_TIMER_ABSTIME) {
		real.it_value = to_real(wish->it_value);
		real.it_interval = to_timespec(period / fake->rate);
	}
	return (int)syscall(SYS_timerfd_settime, fd, flags, &real, ret);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
