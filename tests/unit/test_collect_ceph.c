/* What OSDs of two versions answer, and a server that answers it over a socket. */
#include "collect/ceph_parse.h"
#include "collect_run.h"
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>

static const char quincy[] =
	"{\"bluestore\": {\"commit_lat\": {\"avgcount\": 40, \"sum\": 0.4, \"avgtime\": 0"
	".01}, \"kv_sync_lat\": {\"avgcount\": 4, \"sum\": 1e-2}, \"submit_lat\": {\"avg"
	"count\": 40, \"sum\": 0.04}}, \"osd\": {\"op_wip\": 3, \"op\": 100, \"op_in_byte"
	"s\": 4096000, \"op_out_bytes\": 8192, \"op_latency\": {\"avgcount\": 100, \"su"
	"m\": 2.5, \"avgtime\": 0.025}, \"op_r_latency\": {\"avgcount\": 60, \"sum\": 0."
	"6}, \"op_w_latency\": {\"avgcount\": 40, \"sum\": 1.9}, \"subop_latency\": {\"a"
	"vgcount\": 80, \"sum\": 0.8}, \"recovery_ops\": 7}, \"odd \\\"name\": [1, {\"x\":"
	" \"}\"}]}";
static const char jewel[] =
	"{ \"WBThrottle\": { \"bytes_dirtied\": 0 },   \"filestore\": { \"journal_late"
	"ncy\": { \"avgcount\": 10, \"sum\": 0.100000000 },       \"apply_latency\": {"
	" \"avgcount\": 10, \"sum\": 0.2 } },   \"osd\": { \"op_wip\": 0, \"op_latency\":"
	" { \"avgcount\": 10, \"sum\": 1.000000000 } } } ";
static const char historic[] =
	"{\"size\": 20, \"duration\": 600, \"ops\": [{\"description\": \"osd_op(client.1"
	" \\\"x\\\")\", \"age\": 3.5, \"duration\": 0.25, \"type_data\": {\"events\": []}}, "
	"{\"description\": \"b\", \"duration\": 1.75}]}";

static void clear(int64_t v[CEPH_N])
{
	for (unsigned i = 0; i < CEPH_N; i++)
		v[i] = LP_MISSING;
}

static void test_bluestore(void **state)
{
	int64_t v[CEPH_N];

	(void)state;
	clear(v);
	assert_int_equal(ceph_parse_perf(quincy, v), 18);
	assert_int_equal(v[CEPH_OPS], 100);
	assert_int_equal(v[CEPH_OP_US], 2500000);
	assert_int_equal(v[CEPH_WR_BYTES], 4096000);
	assert_int_equal(v[CEPH_COMMIT_US], 400000);
	assert_int_equal(v[CEPH_KV_US], 10000);
	assert_int_equal(v[CEPH_RECOVERIES], 7);
}

static void test_filestore(void **state)
{
	int64_t v[CEPH_N];

	(void)state;
	clear(v);
	assert_int_equal(ceph_parse_perf(jewel, v), 7);
	assert_int_equal(v[CEPH_COMMIT_US], 100000);
	assert_int_equal(v[CEPH_APPLY_US], 200000);
	assert_int_equal(v[CEPH_RD_OPS], LP_MISSING);
}

static void test_not_json(void **state)
{
	static const char *const bad[] = {"", "{", "[]", "{\"osd\"", "{\"osd\": {", "{\"osd\": 5}",
		"{\"osd\": {\"op_wip\": \"x\"}}", "{\"osd\": {\"op_latency\": {\"sum\": -1}}}"};
	int64_t v[CEPH_N], slowest = -1;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		clear(v);
		assert_int_equal(ceph_parse_perf(bad[i], v), 0);
		assert_false(ceph_parse_historic(bad[i], &slowest));
	}
	assert_true(ceph_parse_historic(historic, &slowest));
	assert_int_equal(slowest, 1750000);
	assert_true(ceph_parse_historic("{\"ops\": []}", &slowest));
	assert_int_equal(slowest, 0);
}

/* An OSD: answers every question on its socket, or only listens. */
struct fake {
	int fd;
	bool mute;
	pthread_t thread;
};

static void answer(int fd, const char *text)
{
	size_t n = strlen(text);
	unsigned char length[] = {n >> 24 & 255, n >> 16 & 255, n >> 8 & 255, n & 255};

	/* In pieces, as it may come. */
	assert_int_equal(write(fd, length, 2), 2);
	assert_int_equal(write(fd, length + 2, 2), 2);
	assert_int_equal(write(fd, text, n), n);
}

static void *fake_serve(void *arg)
{
	struct fake *f = arg;
	int fd;

	while ((fd = accept(f->fd, NULL, NULL)) >= 0) {
		char question[128] = "";

		if (read(fd, question, sizeof(question) - 1) > 0)
			answer(fd, strstr(question, "perf") ? quincy : historic);
		close(fd);
	}
	return NULL;
}

static void fake_start(struct fake *f, const char *dir, const char *name)
{
	struct sockaddr_un a = {.sun_family = AF_UNIX};

	snprintf(a.sun_path, sizeof(a.sun_path), "%s/var/run/ceph/%s", dir, name);
	f->fd = socket(AF_UNIX, SOCK_STREAM, 0);
	assert_int_equal(bind(f->fd, (struct sockaddr *)&a, sizeof(a)), 0);
	assert_int_equal(listen(f->fd, 8), 0);
	if (!f->mute)
		assert_int_equal(pthread_create(&f->thread, NULL, fake_serve, f), 0);
}

static void fake_stop(struct fake *f)
{
	shutdown(f->fd, SHUT_RDWR);
	if (!f->mute)
		pthread_join(f->thread, NULL);
	close(f->fd);
}

static void test_sockets(void **state)
{
	struct fake good = {0}, other = {0}, mute = {.mute = true};
	char dir[PATH_MAX];
	struct run r;

	(void)state;
	tree_make(dir);
	tree_put(dir, "var/run/ceph/x", "");
	fake_start(&good, dir, "ceph-osd.0.asok");
	fake_start(&other, dir, "prod-osd.12.asok");
	fake_start(&mute, dir, "ceph-osd.1.asok");
	run_init(&r, "ceph", dir);
	for (int i = 0; i < 12; i++) {
		run_sample(&r);
		usleep(20000); /* the answer comes meanwhile; later ones are there in any case */
	}
	run_assert_names(&r, "osd.0 prod-osd.12");
	assert_int_equal(run_value(&r, "osd.0", "op_us", 11), 2500000);
	assert_int_equal(run_value(&r, "osd.0", "slowest_us", 11), 1750000);
	run_close(&r);
	fake_stop(&good);
	fake_stop(&other);
	fake_stop(&mute);
	tree_remove(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_bluestore),
		cmocka_unit_test(test_filestore),
		cmocka_unit_test(test_not_json),
		cmocka_unit_test(test_sockets),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
