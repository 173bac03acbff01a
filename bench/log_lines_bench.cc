// A job's log by the numbers of its lines: windows, searches, what is where, the whole as a file; of a log of
// LINES lines (10,000,000). usage: log_lines_bench [FOLDER [LINES]]

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <vector>

#include "base/async/system_clock.h"
#include "base/wire/json.h"
#include "long_log.h"
#include "stores/logs/log_lines.h"
#include "stores/logs/log_writer.h"
#include "sync_floor.h"

namespace trainyard::bench {
namespace {

void Measure(const char* what, int times, const std::function<std::int64_t(int time)>& ask) {
  std::vector<double> spent;
  std::int64_t got = 0;
  for (int i = 0; i < times; ++i) {
    const auto start = SteadyClock::now();
    got = ask(i);
    spent.push_back(SecondsSince(start) * 1000);
  }
  std::ranges::sort(spent);
  std::printf("  %-60s p50 %8.2f ms, max %8.2f ms (%lld)\n", what, spent[spent.size() / 2], spent.back(),
              static_cast<long long>(got));
}

void MeasureWindows(logs::JobChunks& chunks, std::int64_t count) {
  const auto read = [&chunks](logs::WindowPlace place, logs::LineFilter filter) {
    const auto window =
        logs::ReadWindow(chunks, {.job_uid = 1, .place = place, .count = 200, .filter = std::move(filter)})
            .value();
    return static_cast<std::int64_t>(wire::PrintJsonCompact(window).size());
  };
  Measure("first 200 lines, as JSON (budget 300 ms)", 50, [&](int) { return read(logs::FromLine{0}, {}); });
  Measure("last 200 lines", 50, [&](int) { return read(logs::AtEnd{}, {}); });
  std::srand(1);
  const auto any = [count](int) { return std::rand() % count; };
  Measure("200 lines anywhere, by number (budget 100 ms)", 300,
          [&](int i) { return read(logs::FromLine{any(i)}, {}); });
  Measure("the same by time", 300, [&](int i) {
    return read(logs::FromTime{SysTime(std::chrono::nanoseconds(static_cast<std::int64_t>(kStart) +
                                                                any(i) * static_cast<std::int64_t>(kStep)))},
                {});
  });
  Measure("200 errors from anywhere", 50, [&](int i) {
    return read(logs::FromLine{any(i)}, {.severity_min = logging::v2::LogEntry::ERROR});
  });
  Measure("200 lines of a replica", 50,
          [&](int i) { return read(logs::BeforeLine{any(i)}, {.replica = "worker-replica-3"}); });
  Measure("what is where, in 500 parts", 20,
          [&](int) { return logs::SummarizeLines(chunks, 1, 500).value().buckets_size(); });
}

void MeasureSearch(logs::JobChunks& chunks, const char* what, logs::SearchQuery query) {
  query.job_uid = 1;
  const auto start = SteadyClock::now();
  std::int64_t found = 0;
  std::int64_t searched = 0;
  int calls = 0;
  for (bool complete = false; !complete; ++calls) {
    const auto matches = logs::SearchLines(chunks, query).value();
    found += matches.lines_size();
    complete = matches.complete();
    query.from = searched = matches.searched_to();
  }
  const double spent = SecondsSince(start);
  std::printf("  %-60s %6.2f s, %d calls, %lld found: %.2f s a million lines (budget 1 s)\n", what, spent,
              calls, static_cast<long long>(found), spent * 1e6 / static_cast<double>(searched));
}

void MeasureFile(logs::JobChunks& chunks, const char* what, std::int64_t count, logs::DownloadForm form) {
  const auto start = SteadyClock::now();
  std::size_t bytes = 0;
  for (std::int64_t from = 0; from < count;) {
    const logs::Piece piece =
        logs::PrintLines(chunks, {.job_uid = 1, .from = from, .end = count, .form = form}).value();
    bytes += piece.text.size();
    from = piece.next;
  }
  const double spent = SecondsSince(start);
  std::printf("  %-60s %6.2f s, %.0f MB/s, %.0f lines/s\n", what, spent,
              static_cast<double>(bytes) / spent / 1e6, static_cast<double>(count) / spent);
}

int Run(int argc, char** argv) {
  const std::filesystem::path folder = FreshFolder(argc, argv, "log_lines_bench.tmp");
  std::filesystem::create_directories(folder);
  const std::int64_t count = argc > 2 ? std::atoll(argv[2]) : 10'000'000;
  const std::string path = folder / "logs.db";
  const auto start = SteadyClock::now();
  WriteLongLog(path, {}, count);
  std::printf("a log of %lld lines, written in %.1f s:\n", static_cast<long long>(count),
              SecondsSince(start));
  auto chunks = logs::JobChunks::Open(path).value();
  MeasureWindows(*chunks, count);
  MeasureSearch(*chunks, "a text that is nowhere", {.text = "nowhere", .count = 1000});
  MeasureSearch(*chunks, "the same, case matters", {.text = "nowhere", .match_case = true, .count = 1000});
  MeasureSearch(*chunks, "a text of each 1,000th line", {.text = "999: loss", .count = 1000});
  MeasureSearch(*chunks, "an expression that is nowhere",
                {.text = "no+where$", .regex = true, .count = 1000});
  MeasureSearch(*chunks, "an expression of each 100,000th line",
                {.text = "step \\d*99999:", .regex = true, .count = 1000});
  MeasureFile(*chunks, "the whole log as text", count, logs::DownloadForm::kText);
  MeasureFile(*chunks, "a tenth of it as JSON", count / 10, logs::DownloadForm::kJson);
  std::filesystem::remove_all(folder);
  return 0;
}

}  // namespace
}  // namespace trainyard::bench

int main(int argc, char** argv) { return trainyard::bench::Run(argc, argv); }
