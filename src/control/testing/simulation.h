#pragma once

#include <boost/asio/thread_pool.hpp>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/sqlite/testing/simulated_disk.h"
#include "control/job_service.h"
#include "control/testing/job_ledger.h"
#include "control/testing/simulated_time.h"
#include "engine/admissions.h"
#include "engine/fake/fake_attempt_host.h"
#include "engine/fake/fake_engine.h"
#include "engine/local/local_engine.h"
#include "programs/environment/catalogue.h"
#include "stores/logs/log_store.h"
#include "stores/storage/buckets.h"
#include "stores/store/journal.h"

namespace trainyard::control {

/// All schedules share the bucket with the programs' package. It is on the machine's own disk.
struct SimulationGround {
  SimulationGround();
  ~SimulationGround();
  std::filesystem::path folder;
  boost::asio::thread_pool files{1};
  environment::Catalogue catalogue;
};

/// One schedule of a whole server by a seed: the real control loop, journal, log store, admissions and engine
/// of this machine, on a simulated disk and in simulated time; simulated supervisors, which outlive the
/// server; clients that keep a ledger of every answer. Everything that happens depends on the seed alone.
class Simulation {
 public:
  Simulation(SimulationGround& ground, std::uint64_t seed);
  ~Simulation();

  /// Clients work and faults happen for a while; then the faults stop and everything must end. Returns the
  /// violations, one sentence each.
  std::vector<std::string> Run();
  /// The events of the schedule, one line each, in the words of docs/lifecycle.md.
  [[nodiscard]] const std::vector<std::string>& story() const noexcept { return story_; }

 private:
  /// Hands frames to the server, when there is one, after a while.
  class Wire;
  struct Server;

  void StartServer();
  /// @param power_cut  the machine loses its power: unsynced writes and all attempts are gone, too
  void KillServer(bool power_cut);
  void Act();
  void CreateJob();
  void CancelJob(const std::string& job_id);
  void RelabelJob(const std::string& job_id);
  void LoseAttempt();
  void AddNode(const std::string& node);
  void ChangeNodes();
  void Maintain();
  /// One step of anybody; then no replica may have two programs.
  void Step();
  void Settle();
  void CheckEnd();
  [[nodiscard]] std::vector<std::string> LinesOf(const std::string& job_id);
  void Say(std::string line);
  void Violate(std::string what);
  std::size_t Below(std::size_t bound) { return static_cast<std::size_t>(time_.random()() % bound); }
  void EndProgram(const std::string& attempt_id);
  void Reconnect(const std::string& attempt_id);
  boost::asio::awaitable<void> ReconnectLater(std::string attempt_id);

  SimulationGround& ground_;
  boost::asio::io_context loop_{1};
  SimulatedTime time_;
  sqlite::SimulatedDisk disk_;
  std::unique_ptr<storage::Buckets> buckets_;
  std::unique_ptr<engine::FakeAttemptHost> replicas_;
  std::unique_ptr<engine::FakeEngine> cluster_;  ///< outlives servers; null: this machine's own slots
  std::set<std::string> nodes_;                  ///< of the cluster, that are up
  std::unique_ptr<Wire> wire_;
  Settings settings_;
  std::unique_ptr<JobMaker> maker_;
  std::unique_ptr<Server> server_;  ///< null: killed
  int lives_ = 0;                   ///< of servers so far
  std::map<std::string, JobLedger> ledger_;
  std::map<std::string, std::string> job_of_;  ///< by attempt
  int unanswered_ = 0;                         ///< calls of clients, while their server lives
  std::set<std::string> running_;              ///< attempts whose programs run
  std::vector<std::string> story_;
  std::vector<std::string> violations_;
};

}  // namespace trainyard::control
