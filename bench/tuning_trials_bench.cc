// A tuning job of many one-second trials on the real control loop, store and log, with simulated replicas:
// how long a slot stays empty between the end of one trial and the program of the next. usage:
// tuning_trials_bench FOLDER [TRIALS [PARALLEL [SECOND_MS]]]    SECOND_MS: how long a simulated second is

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/detached.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdio>
#include <cstdlib>
#include <deque>
#include <filesystem>
#include <fstream>
#include <vector>

#include "base/async/diagnostics.h"
#include "base/async/system_clock.h"
#include "control/job_service.h"
#include "engine/fake/fake_attempt_host.h"
#include "engine/local/local_engine.h"
#include "programs/environment/catalogue.h"
#include "stores/logs/log_store.h"
#include "stores/storage/buckets.h"
#include "stores/store/job_store.h"
#include "stores/store/journal.h"

namespace trainyard::bench {
namespace {

namespace asio = boost::asio;
using SteadyTime = std::chrono::steady_clock::time_point;

struct Options {
  std::filesystem::path folder;
  int trials = 10'000;
  int parallel = 16;
  std::chrono::milliseconds second{1000};
};

/// Sits between the replicas and the server: lets each program run for a second, and measures how long slots
/// are empty.
class Stopwatch final : public engine::ReplicaLinkObserver {
 public:
  Stopwatch(asio::io_context& loop, engine::FakeAttemptHost& replicas, std::chrono::milliseconds second)
      : loop_(loop), replicas_(replicas), second_(second) {}

  control::JobService* server = nullptr;
  std::vector<double> gaps_ms;

  Status OnHello(std::shared_ptr<engine::ReplicaLink> link,
                 const engine::FromReplica::Hello& hello) override {
    return server->gateway().OnHello(std::move(link), hello);
  }
  asio::awaitable<void> OnFrame(std::shared_ptr<engine::ReplicaLink> link, std::string attempt_id,
                                engine::FromReplica frame) override {
    const SteadyTime now = std::chrono::steady_clock::now();
    if (frame.has_exit()) ends_.push_back(now);
    if (frame.has_phase_changed() && frame.phase_changed().phase() == replica::v1::RUNNING) {
      if (!ends_.empty()) {
        gaps_ms.push_back(std::chrono::duration<double, std::milli>(now - ends_.front()).count());
        ends_.pop_front();
      }
      asio::co_spawn(loop_, EndLater(attempt_id), asio::detached);
    }
    return server->gateway().OnFrame(std::move(link), std::move(attempt_id), std::move(frame));
  }
  void OnClosed(const engine::ReplicaLink* link, const std::string& attempt_id) override {
    server->gateway().OnClosed(link, attempt_id);
  }

 private:
  asio::awaitable<void> EndLater(std::string attempt_id) {
    asio::steady_timer timer(loop_, second_);
    co_await timer.async_wait(asio::use_awaitable);
    replica::v1::ExitRecord exit;
    exit.set_cause(replica::v1::ExitRecord::EXITED);
    exit.mutable_start_time()->set_seconds(1'700'000'000);
    replica::v1::Measurement& measurement = *exit.mutable_metrics()->add_measurements();
    measurement.set_step(1);
    measurement.set_value(static_cast<double>(gaps_ms.size()));
    replicas_.End(attempt_id, std::move(exit));
  }

  asio::io_context& loop_;
  engine::FakeAttemptHost& replicas_;
  std::chrono::milliseconds second_;
  std::deque<SteadyTime> ends_;
};

ml::v1::Job MakeJob(const Options& options) {
  ml::v1::Job job;
  job.set_job_id("many");
  ml::v1::TrainingInput& input = *job.mutable_training_input();
  input.set_region("us-central1");
  input.set_python_module("trainer.task");
  input.add_package_uris("gs://packages/trainer.tar.gz");
  ml::v1::HyperparameterSpec& spec = *input.mutable_hyperparameters();
  spec.set_max_trials(options.trials);
  spec.set_max_parallel_trials(options.parallel);
  spec.set_algorithm(ml::v1::HyperparameterSpec::RANDOM_SEARCH);
  for (const char* name : {"learning_rate", "momentum"}) {
    ml::v1::ParameterSpec& param = *spec.add_params();
    param.set_parameter_name(name);
    param.set_type(ml::v1::ParameterSpec::DOUBLE);
    param.set_max_value(1);
  }
  return job;
}

template <class T>
T OrExit(Result<T> result, const char* what) {
  if (result) return *std::move(result);
  std::fprintf(stderr, "%s: %s\n", what, result.error().message.c_str());
  std::exit(1);
}

environment::Catalogue OneRuntime() {
  environment::RuntimeVersion runtime;
  runtime.version = "2.15";
  runtime.pythons = {"3.11"};
  return environment::Catalogue({runtime});
}

asio::awaitable<void> Tune(asio::io_context& loop, control::JobService& service, const Options& options,
                           ml::v1::Job& done) {
  const Status recovered = co_await service.Recover();
  if (!recovered) std::exit(1);
  ml::v1::Job job = MakeJob(options);
  OrExit(co_await service.Create("bench", std::move(job)), "create");
  asio::steady_timer timer(loop);
  while (!done.has_end_time()) {
    timer.expires_after(std::chrono::seconds(1));
    co_await timer.async_wait(asio::use_awaitable);
    const wire::JobName name{"bench", "many"};
    const control::v1::JobRecord record = OrExit(co_await service.Record(name), "get");
    done = record.job();
  }
  loop.stop();
}

int Run(const Options& options) {
  asio::io_context loop(1);
  SystemClock clock;
  auto writer = OrExit(store::JobStore::Open(options.folder / "trainyard.db"), "store");
  auto reader = OrExit(store::JobStore::OpenReader(options.folder / "trainyard.db"), "store");
  store::Journal journal(loop, *writer, *reader);
  auto logs = OrExit(logs::LogStore::Open(loop, clock, options.folder / "logs.db"), "logs");
  asio::thread_pool files(1);
  storage::Buckets::Options bucket_options{.data = options.folder};
  auto buckets = OrExit(storage::Buckets::Open(std::move(bucket_options), clock, files), "buckets");
  std::filesystem::create_directories(options.folder / "buckets/packages");
  std::ofstream(options.folder / "buckets/packages/trainer.tar.gz") << "a package";
  engine::FakeAttemptHost replicas(loop.get_executor());
  replicas.SetScript([](const replica::v1::Manifest&) { return engine::FakeScript{.exit = std::nullopt}; });
  Stopwatch stopwatch(loop, replicas, options.second);
  replicas.Attach(stopwatch);
  const placement::Capacity capacity{
      .mode = placement::Capacity::Mode::kShare, .cpus = 1024, .memory_bytes = std::int64_t{1} << 45};
  engine::LocalEngine engine(loop.get_executor(), {.capacity = capacity});
  engine::Admissions admissions(loop.get_executor(),
                                {.rooms = {{.name = placement::kLocalEngine, .engine = engine}}});
  const control::Settings settings{.keys = control::Keys::Derive("secret")};
  const environment::Catalogue catalogue = OneRuntime();
  control::JobMaker maker(
      *buckets, catalogue, clock,
      {.runtime_default = "2.15", .pythons = {{{"3.11", "/usr/bin/python3"}}}, .capacity = capacity});
  control::JobService service({.loop = loop.get_executor(),
                               .journal = journal,
                               .logs = *logs,
                               .admissions = admissions,
                               .hosts = {.here = replicas},
                               .clock = clock,
                               .settings = settings,
                               .kept = {.buckets = buckets.get()}},
                              maker);
  stopwatch.server = &service;
  const SteadyTime start = std::chrono::steady_clock::now();
  ml::v1::Job done;
  asio::co_spawn(loop, Tune(loop, service, options, done), asio::detached);
  loop.run();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::vector<double>& gaps = stopwatch.gaps_ms;
  std::ranges::sort(gaps);
  double mean = 0;
  for (const double gap : gaps) mean += gap / static_cast<double>(gaps.size());
  std::printf(
      "%s trials %d parallel %d second_ms %lld wall_s %.2f trials_per_s %.1f gap_mean_ms %.2f gap_p50_ms "
      "%.2f gap_p99_ms %.2f\n",
      ml::v1::Job::State_Name(done.state()).c_str(), options.trials, options.parallel,
      static_cast<long long>(options.second.count()), seconds, options.trials / seconds, mean,
      gaps.at(gaps.size() / 2), gaps.at(gaps.size() * 99 / 100));
  return done.state() == ml::v1::Job::SUCCEEDED ? 0 : 1;
}

}  // namespace
}  // namespace trainyard::bench

int main(int argc, char** argv) {
  if (argc < 2)
    return std::fprintf(stderr, "usage: tuning_trials_bench FOLDER [TRIALS [PARALLEL [SECOND_MS]]]\n"), 2;
  trainyard::bench::Options options{.folder = argv[1]};
  if (argc > 2) options.trials = std::atoi(argv[2]);
  if (argc > 3) options.parallel = std::atoi(argv[3]);
  if (argc > 4) options.second = std::chrono::milliseconds(std::atoi(argv[4]));
  std::filesystem::create_directories(options.folder);
  trainyard::SetDiagnosticLevel(trainyard::DiagnosticLevel::kWarning);
  return trainyard::bench::Run(options);
}
