// Log lines per second, stamped, indexed and durable, and pages read back, compared with write + fdatasync of
// the same bytes. usage: logs_bench [FOLDER]

#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>

#include <algorithm>
#include <array>
#include <vector>

#include "base/async/system_clock.h"
#include "base/wire/json.h"
#include "stores/logs/log_query.h"
#include "stores/logs/log_reader.h"
#include "stores/logs/log_store.h"
#include "stores/logs/log_writer.h"
#include "stores/logs/tail_reader.h"
#include "sync_floor.h"

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

/// One replica: sends a chunk when the previous one is acknowledged.
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
    Result<logs::StoredLines> next = co_await store.Append(source, chunk);
    if (!next) std::fprintf(stderr, "%s\n", next.error().message.c_str()), std::exit(1);
    latencies.push_back(SecondsSince(start) * 1000);
    lines += next->next_line - chunk.first_line();
    chunk.set_first_line(next->next_line);
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
  auto store = logs::LogStore::Open(loop, clock, folder / "logs.db").value();
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
  auto store = logs::LogStore::Open(loop, clock, folder / "logs.db").value();
  std::vector<double> read;
  double print = 0;
  asio::co_spawn(loop, ReadPages(*store, order, read, print), asio::detached);
  loop.run();
  std::ranges::sort(read);
  std::printf("page of 1000 entries, %-14s: p50 %.2f ms, max %.2f ms; printing it as JSON %.2f ms\n",
              order.c_str(), read[read.size() / 2], read.back(), print);
}

constexpr int kSearchedLines = 1'000'000;
constexpr int kSearchedJobs = 10;
constexpr int kSearchedTasks = 8;
constexpr int kLinesPerChunk = 100;
constexpr std::uint64_t kStart = 1'700'000'000'000'000'001;
constexpr std::uint64_t kChunkSpan = 100'000'000;  // a job writes a chunk every 100 ms: 1,000 lines/s

/// Ten jobs of eight replicas at the same time.
void FillForSearches(const std::string& path) {
  const SystemClock clock;
  auto writer = logs::LogWriter::Open(path, clock).value();
  std::array<std::array<std::int64_t, kSearchedTasks>, kSearchedJobs> next_line{};
  for (int number = 0; number < kSearchedLines / kLinesPerChunk; ++number) {
    const int job = number % kSearchedJobs;
    const int task = number / kSearchedJobs % kSearchedTasks;
    const std::string task_name = "worker-replica-" + std::to_string(task);
    logs::AppendRequest request{.source = {.job_uid = job + 1,
                                           .project = "bench",
                                           .job_id = "job_" + std::to_string(job),
                                           .source = task_name,
                                           .task_name = task_name,
                                           .trial_id = "",
                                           .host_name = "host"},
                                .chunk = {}};
    replica::v1::LogLines packed;
    const std::uint64_t start = kStart + static_cast<std::uint64_t>(number / kSearchedJobs) * kChunkSpan;
    for (int i = 0; i < kLinesPerChunk; ++i) {
      replica::v1::LogLine& line = *packed.add_line();
      line.set_stamp(start + 1000 * static_cast<std::uint64_t>(i));
      line.set_severity(logging::v2::LogEntry::INFO);
      line.set_text("step " + std::to_string(number) + "." + std::to_string(i) +
                    ": loss 0.25, accuracy 0.75");
    }
    std::int64_t& next = next_line.at(static_cast<std::size_t>(job)).at(static_cast<std::size_t>(task));
    request.chunk.set_first_line(next);
    request.chunk.set_line_count(kLinesPerChunk);
    request.chunk.set_first_stamp(packed.line(0).stamp());
    request.chunk.set_last_stamp(packed.line(kLinesPerChunk - 1).stamp());
    packed.SerializeToString(request.chunk.mutable_lines());
    next = writer->Append({&request, 1}).at(0).value().next_line;
  }
}

void MeasureSearch(logs::LogReader& reader, const char* what, const std::string& filter, const char* order) {
  logging::v2::ListLogEntriesRequest request;
  request.add_resource_names("projects/bench");
  request.set_filter(filter);
  request.set_order_by(order);
  request.set_page_size(50);
  const logs::LogQuery query = logs::ParseLogQuery(request).value();
  std::vector<double> times;
  std::size_t found = 0;
  for (int i = 0; i < 50; ++i) {
    const auto start = SteadyClock::now();
    found = reader.Read(query).value().entries.size();
    times.push_back(SecondsSince(start) * 1000);
  }
  std::ranges::sort(times);
  std::printf("  %-58s %3zu entries: p50 %6.2f ms, max %6.2f ms\n", what, found, times[times.size() / 2],
              times.back());
}

/// A page of 50 from a million lines, and the cost of an append for each tail that it wakes.
void MeasureSearches(const std::filesystem::path& folder) {
  const std::string path = folder / "search.db";
  FillForSearches(path);
  auto reader = logs::LogReader::Open(path).value();
  std::printf("among %d lines of %d jobs with %d replicas:\n", kSearchedLines, kSearchedJobs, kSearchedTasks);
  const std::string job = "resource.labels.job_id=\"job_3\"";
  const std::string task =
      " AND (resource.labels.task_name=\"worker-replica-5\" OR labels.task_name=\"worker-replica-5\")";
  const std::string middle = "timestamp>=\"2023-11-14T22:14:50Z\" AND timestamp<\"2023-11-14T22:14:51Z\"";
  MeasureSearch(*reader, "job, oldest", job, "timestamp asc");
  MeasureSearch(*reader, "job, newest", job, "timestamp desc");
  MeasureSearch(*reader, "job and one second in the middle", job + " AND " + middle, "timestamp asc");
  MeasureSearch(*reader, "job and replica, oldest", job + task, "timestamp asc");
  MeasureSearch(*reader, "job, replica and one second", job + task + " AND " + middle, "timestamp desc");
  MeasureSearch(*reader, "one second of all jobs", middle, "timestamp asc");
  MeasureSearch(*reader, "job and a text that is nowhere (20,000 lines a page)", job + " AND \"nowhere\"",
                "timestamp asc");
  auto tail = logs::TailReader::Open(path).value();
  logging::v2::TailLogEntriesRequest request;
  request.add_resource_names("projects/bench");
  request.set_filter(job);
  const logs::LogQuery query = logs::ParseTailQuery(request).value();
  const logs::TailPosition end = tail->Start(query, "").value();
  const auto start = SteadyClock::now();
  for (int i = 0; i < 1000; ++i) static_cast<void>(tail->Read(query, end).value());
  std::printf("  a tail's look for more at the end of a job: %.3f ms\n", SecondsSince(start));
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
  MeasureSearches(folder);
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace trainyard::bench

int main(int argc, char** argv) { return trainyard::bench::Run(argc, argv); }
