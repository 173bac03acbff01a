// Log lines per second, stamped, indexed and durable, and pages read back, beside write + fdatasync of the
// same bytes. usage: logs_bench [FOLDER]

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <vector>

#include "async/system_clock.h"
#include "logs/sqlite_log_store.h"
#include "sync_floor.h"
#include "wire/json.h"

namespace trainyard::bench {
namespace {

namespace asio = boost::asio;
using replica::v1::LogChunk;

constexpr std::size_t kTextBytes = 60;
constexpr double kSeconds = 3;

LogChunk Chunk(int lines) {
  replica::v1::LogLines packed;
  LogChunk chunk;
  std::uint64_t stamp = 1'700'000'000'000'000'001;
  chunk.set_first_stamp(stamp);
  for (int i = 0; i < lines; ++i, stamp += 1000) {
    replica::v1::LogLine& line = *packed.add_line();
    line.set_stamp(stamp);
    line.set_severity(logging::v2::LogEntry::INFO);
    line.set_text(std::string(kTextBytes, static_cast<char>('a' + i % 26)));
    chunk.set_last_stamp(stamp);
  }
  chunk.set_line_count(lines);
  packed.SerializeToString(chunk.mutable_lines());
  return chunk;
}

/// One replica: the next chunk when the one before is acknowledged.
asio::awaitable<void> AppendUntil(logs::LogStore& store, int replica, const LogChunk& sample,
                                  SteadyClock::time_point end, std::int64_t& lines,
                                  std::vector<double>& latencies) {
  logs::LogSource source{.job_uid = replica / 4 + 1,
                         .project = "bench",
                         .job_id = "job_" + std::to_string(replica / 4 + 1),
                         .source = "worker-" + std::to_string(replica),
                         .task_name = "worker-replica-" + std::to_string(replica),
                         .trial_id = "",
                         .host_name = "host"};
  LogChunk chunk = sample;
  while (SteadyClock::now() < end) {
    const auto start = SteadyClock::now();
    Result<std::int64_t> next = co_await store.Append(source, chunk);
    if (!next) std::fprintf(stderr, "%s\n", next.error().message.c_str()), std::exit(1);
    latencies.push_back(SecondsSince(start) * 1000);
    lines += *next - chunk.first_line();
    chunk.set_first_line(*next);
  }
}

struct Load {
  int replicas;
  int lines_per_chunk;
};

void MeasureAppends(const std::filesystem::path& folder, Load load) {
  const auto& [replicas, lines_per_chunk] = load;
  asio::io_context loop;
  const SystemClock clock;
  auto store = logs::SqliteLogStore::Open(loop, clock, folder / "logs.db").value();
  const LogChunk sample = Chunk(lines_per_chunk);
  const double floor = SyncedBlocksPerSecond(
                           folder, sample.lines().size() * static_cast<std::size_t>(replicas), kSeconds / 3) *
                       replicas;
  std::int64_t lines = 0;
  std::vector<double> latencies;
  const auto start = SteadyClock::now();
  const auto end =
      start + std::chrono::duration_cast<SteadyClock::duration>(std::chrono::duration<double>(kSeconds));
  for (int i = 0; i < replicas; ++i) {
    asio::co_spawn(loop, AppendUntil(*store, i, sample, end, lines, latencies), asio::detached);
  }
  loop.run();
  const double spent = SecondsSince(start);
  std::ranges::sort(latencies);
  std::printf(
      "%3d replicas, chunks of %5d lines: %10.0f lines/s   p50 %.2f ms, p99 %.2f ms   floor, write + "
      "fdatasync: %.0f "
      "lines/s"
      "   (budget 1000000/s)\n",
      replicas, lines_per_chunk, static_cast<double>(lines) / spent, latencies[latencies.size() / 2],
      latencies[latencies.size() * 99 / 100], floor * lines_per_chunk);
}

asio::awaitable<void> ReadPages(logs::LogStore& store, std::string order, std::vector<double>& read,
                                double& print) {
  logging::v2::ListLogEntriesRequest request;
  request.add_resource_names("projects/bench");
  request.set_filter(
      "(resource.type=\"ml_job\" OR resource.type=\"cloudml_job\") AND resource.labels.job_id=\"job_1\" AND "
      "timestamp>=\"1970-01-01T01:00:00.000000000Z\" AND timestamp<\"2100-01-01T00:00:00.000000Z\"");
  request.set_order_by(order);
  request.set_page_size(1000);
  for (int i = 0; i < 50; ++i) {
    auto start = SteadyClock::now();
    Result<logs::LogPage> page = co_await store.List(request);
    if (!page) std::fprintf(stderr, "%s\n", page.error().message.c_str()), std::exit(1);
    read.push_back(SecondsSince(start) * 1000);
    request.set_page_token(page->next_page_token);
    logging::v2::ListLogEntriesResponse answer;
    for (auto& entry : page->entries) *answer.add_entries() = std::move(entry);
    start = SteadyClock::now();
    const std::string text = wire::PrintJson(answer);
    print += SecondsSince(start) * 1000 / 50;
    if (text.empty()) std::exit(1);
  }
}

void MeasurePages(const std::filesystem::path& folder, const std::string& order) {
  asio::io_context loop;
  const SystemClock clock;
  auto store = logs::SqliteLogStore::Open(loop, clock, folder / "logs.db").value();
  std::vector<double> read;
  double print = 0;
  asio::co_spawn(loop, ReadPages(*store, order, read, print), asio::detached);
  loop.run();
  std::ranges::sort(read);
  std::printf("page of 1000 entries, %-14s: p50 %.2f ms, max %.2f ms; printing it as JSON %.2f ms\n",
              order.c_str(), read[read.size() / 2], read.back(), print);
}

int Run(int argc, char** argv) {
  const std::filesystem::path folder = FreshFolder(argc, argv, "logs_bench.tmp");
  for (const Load load : {Load{8, 100}, Load{8, 500}, Load{8, 2000}, Load{64, 500}}) {
    std::filesystem::remove_all(folder);
    std::filesystem::create_directories(folder);
    MeasureAppends(folder, load);
  }
  MeasurePages(folder, "timestamp asc");
  MeasurePages(folder, "timestamp desc");
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace trainyard::bench

int main(int argc, char** argv) { return trainyard::bench::Run(argc, argv); }
