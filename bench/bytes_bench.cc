// What is done to every byte of a body: gzip both ways, and CRC32C.
//
//   bytes_bench [--benchmark_filter=...]      UserCounters: ratio, compressed to plain
#include <benchmark/benchmark.h>

#include <random>
#include <span>
#include <string>
#include <vector>

#include "base/crc32c.h"
#include "net/http/gzip.h"

namespace trainyard {
namespace {

/// An answer of jobs.list.
std::string JobsAsJson(std::size_t size) {
  std::mt19937 random(7);
  std::string text = R"({"jobs":[)";
  while (text.size() < size) {
    text +=
        R"({"jobId":"census_)" + std::to_string(random() % 100'000) +
        R"(","state":"SUCCEEDED","createTime":"2026-01-22T10:)" + std::to_string(10 + random() % 50) +
        R"(:17Z","trainingInput":{"scaleTier":"BASIC","region":"us-central1","pythonModule":"trainer.task",)" +
        R"("args":["--seed",")" + std::to_string(random()) + R"("]}},)";
  }
  return text;
}

void CountBytes(benchmark::State& state, const std::string& text) {
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(text.size()));
}

void Compress(benchmark::State& state) {
  const std::string text = JobsAsJson(static_cast<std::size_t>(state.range(0)));
  std::size_t size = 0;
  for (auto _ : state) size = http::GzipCompress(text).size();
  CountBytes(state, text);
  state.counters["ratio"] = static_cast<double>(size) / static_cast<double>(text.size());
}
BENCHMARK(Compress)->Arg(2 << 10)->Arg(30 << 10)->Arg(300 << 10);

void Decompress(benchmark::State& state) {
  const std::string text = JobsAsJson(static_cast<std::size_t>(state.range(0)));
  const std::string compressed = http::GzipCompress(text);
  std::vector<std::byte> out(16 << 10);
  for (auto _ : state) {
    http::GzipDecoder decoder;
    std::string_view in = compressed;
    while (!decoder.done()) in.remove_prefix(decoder.Decode(in, out)->consumed);
  }
  CountBytes(state, text);
}
BENCHMARK(Decompress)->Arg(2 << 10)->Arg(300 << 10);

template <auto Sum>
void Crc(benchmark::State& state) {
  const std::string bytes(1 << 20, 'x');
  for (auto _ : state) benchmark::DoNotOptimize(Sum(bytes, 0));
  CountBytes(state, bytes);
}
BENCHMARK(Crc<Crc32c>);
BENCHMARK(Crc<Crc32cByTable>);

}  // namespace
}  // namespace trainyard

BENCHMARK_MAIN();
