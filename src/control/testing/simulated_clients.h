#pragma once

#include <boost/asio/awaitable.hpp>
#include <optional>
#include <string>
#include <vector>

#include "control/testing/simulated_server.h"
#include "control/testing/surroundings.h"
#include "trainyard/ml/v1/ml.pb.h"

namespace trainyard::control {

/// Clients and operators of the server. They note in the ledgers what they ask for and what is answered. Each
/// call needs a server that is up. Loop thread only.
class SimulatedClients {
 public:
  /// Both outlive it.
  SimulatedClients(Surroundings& around, SimulatedServer& server) : around_(around), server_(server) {}

  /// `asked`: what the job is and what its programs do.
  void Create(const std::string& job_id, JobLedger asked);
  void Cancel(const std::string& job_id);
  void Delete(const std::string& job_id);
  /// @param with_etag  the label is changed only if the job has not changed since it was read
  void Relabel(const std::string& job_id, const std::string& label, bool with_etag);
  void SetPolicy(const std::string& job_id, const std::string& member);
  /// An operator moves the attempt's replica.
  void Maintain(const std::string& job_id, const std::string& attempt_id);

  /// The jobs that clients have asked for.
  [[nodiscard]] std::vector<std::string> Jobs() const;
  /// Calls of clients that this server has not answered.
  [[nodiscard]] int unanswered() const noexcept { return unanswered_; }
  /// The job's log, in order; empty and a violation if it cannot be read.
  [[nodiscard]] std::vector<std::string> LinesOf(const std::string& job_id);

 private:
  struct Waiting;
  struct Setting;
  boost::asio::awaitable<void> CreateOne(ml::v1::Job job);
  boost::asio::awaitable<void> CancelOne(std::string job_id);
  boost::asio::awaitable<void> DeleteOne(std::string job_id);
  boost::asio::awaitable<void> RelabelOne(std::string job_id, std::string label, bool with_etag);
  boost::asio::awaitable<void> SetPolicyOne(std::string job_id, std::string member);
  boost::asio::awaitable<void> MaintainOne(std::string job_id, std::string task_name);

  Surroundings& around_;
  SimulatedServer& server_;
  int unanswered_ = 0;
};

}  // namespace trainyard::control
