// Durable creates per second through the journal, compared with the disk and SQLite alone.
// usage: store_bench [FOLDER [HISTORY]]    HISTORY: so many finished jobs first, then opening and reading are
// timed

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <vector>

#include "base/sqlite/database.h"
#include "stores/store/job_store.h"
#include "stores/store/journal.h"
#include "sync_floor.h"

namespace trainyard::bench {
namespace {

namespace asio = boost::asio;
using store::Event;
using store::JobRecord;

constexpr int kInFlight = 64;
constexpr double kSeconds = 3;

JobRecord Job(std::int64_t number) {
  JobRecord record;
  record.set_project("bench");
  record.set_cluster_hash("0123456789");
  record.set_runtime_version("2.15");
  ml::v1::Job& job = *record.mutable_job();
  job.set_job_id("job_" + std::to_string(number));
  job.mutable_create_time()->set_seconds(1'700'000'000);
  job.set_state(ml::v1::Job::QUEUED);
  job.mutable_training_input()->set_region("us-central1");
  job.mutable_training_input()->set_python_module("trainer.task");
  job.mutable_training_input()->add_package_uris("gs://bucket/packages/0123456789abcdef/trainer-0.1.tar.gz");
  for (int i = 0; i < 16; ++i)
    job.mutable_training_input()->add_args("--some_argument_of_the_user=" + std::to_string(i));
  return record;
}

asio::awaitable<void> CreateUntil(store::Journal& journal, SteadyClock::time_point end, std::int64_t& number,
                                  std::vector<double>& latencies) {
  while (SteadyClock::now() < end) {
    JobRecord record = Job(number++);
    Event created;
    *created.mutable_created()->mutable_record() = record;
    const auto start = SteadyClock::now();
    Result<std::int64_t> uid = co_await journal.Create(std::move(record), std::vector<Event>{created});
    if (!uid) std::fprintf(stderr, "%s\n", uid.error().message.c_str()), std::exit(1);
    latencies.push_back(SecondsSince(start) * 1000);
  }
}

double UnsyncedInsertsPerSecond(const std::filesystem::path& folder, std::size_t bytes) {
  const std::vector<std::string_view> schema = {"CREATE TABLE t(a INTEGER PRIMARY KEY, b BLOB)"};
  sqlite::DatabaseOptions options{.path = folder / "floor.db", .application_id = 1, .migrations = schema};
  auto database = sqlite::Database::Open(options);
  if (!database || !database->Execute("PRAGMA synchronous=OFF")) std::exit(1);
  auto insert = database->Prepare("INSERT INTO t(b) VALUES(?1)");
  const std::string row(bytes, 'x');
  int count = 0;
  const auto start = SteadyClock::now();
  for (; SecondsSince(start) < kSeconds / 3; ++count) static_cast<void>(insert->Run(sqlite::Blob{row}));
  return count / SecondsSince(start);
}

void MeasureCreates(const std::filesystem::path& folder) {
  auto writer = store::JobStore::Open(folder / "trainyard.db").value();
  auto reader = store::JobStore::OpenReader(folder / "trainyard.db").value();
  asio::io_context loop;
  store::Journal journal(loop, *writer, *reader);
  std::vector<double> latencies;
  std::int64_t number = 0;
  const auto start = SteadyClock::now();
  const auto end =
      start + std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(kSeconds));
  for (int i = 0; i < kInFlight; ++i) {
    asio::co_spawn(loop, CreateUntil(journal, end, number, latencies), asio::detached);
  }
  loop.run();
  const double rate = static_cast<double>(latencies.size()) / SecondsSince(start);
  std::ranges::sort(latencies);
  std::printf(
      "durable creates, %d in flight     %9.0f/s   p50 %.2f ms, p99 %.2f ms, max %.2f ms   (budget 5000/s, "
      "p99 20 ms)\n",
      kInFlight, rate, latencies[latencies.size() / 2], latencies[latencies.size() * 99 / 100],
      latencies.back());
}

void MeasureHistory(const std::filesystem::path& folder, int history) {
  auto store = store::JobStore::Open(folder / "history.db").value();
  for (int i = 0; i < history; ++i) {
    if (i % 1000 == 0) static_cast<void>(store->Begin());
    JobRecord record = Job(i);
    record.mutable_job()->mutable_end_time()->set_seconds(1'700'000'100);
    Event created;
    *created.mutable_created()->mutable_record() = record;
    if (!store->Create(record, created)) std::exit(1);
    if (i % 1000 == 999) static_cast<void>(store->Commit());
  }
  store.reset();
  auto start = SteadyClock::now();
  store = store::JobStore::Open(folder / "history.db").value();
  const std::size_t unfinished = store->Unfinished()->size();
  std::printf("open, %d finished jobs, %zu unfinished      %.2f ms\n", history, unfinished,
              SecondsSince(start) * 1000);
  std::vector<double> pages;
  std::string token;
  do {
    start = SteadyClock::now();
    store::JobPage page = store->List("bench", 100, token).value();
    pages.push_back(SecondsSince(start) * 1000);
    token = page.next_page_token;
  } while (!token.empty());
  std::ranges::sort(pages);
  std::printf("pages of 100 through all of them          p50 %.2f ms, p99 %.2f ms   (budget p99 10 ms)\n",
              pages[pages.size() / 2], pages[pages.size() * 99 / 100]);
}

int Run(int argc, char** argv) {
  const std::filesystem::path folder = FreshFolder(argc, argv, "store_bench.tmp");
  const std::size_t row = 2 * Job(0).ByteSizeLong();
  std::printf("floor: write + fdatasync of 4 KiB   %9.0f/s\n",
              SyncedBlocksPerSecond(folder, 4096, kSeconds / 3));
  std::printf("floor: SQLite insert, no sync       %9.0f/s   (rows of %zu bytes)\n",
              UnsyncedInsertsPerSecond(folder, row), row);
  MeasureCreates(folder);
  if (argc > 2) MeasureHistory(folder, std::atoi(argv[2]));
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace trainyard::bench

int main(int argc, char** argv) { return trainyard::bench::Run(argc, argv); }
