#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <map>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "base/async/task_group.h"
#include "engine/replica_link.h"
#include "engine/testing/simulated_connection.h"

namespace trainyard::engine {

/// For simulations: connects to the server and pretends to be a supervisor. It knows the tokens of other
/// attempts, and the one of an attempt that has ended, but never the one of an attempt that lives. Loop
/// thread only.
class Intruder final {
 public:
  /// All outlive it.
  Intruder(boost::asio::any_io_executor loop, std::mt19937_64& random, ReplicaLinkObserver& server);

  /// It writes this line into a log, if it can.
  static constexpr std::string_view kLine = "a line of an intruder";

  /// An attempt that was started, with its token.
  void Learn(const std::string& attempt_id, const std::string& token);
  /// The attempt's end is in the record of its job.
  void LearnEnd(const std::string& attempt_id);

  /// The ids of the attempts that it knows, and whose end it does not know.
  [[nodiscard]] std::vector<std::string> Living() const;

  /// Says Hello, and, if nobody closes the connection, that it runs, writes a line and ends. Returns in which
  /// way it lies.
  std::string_view Try();

  /// Returns one sentence for each thing that the server has allowed it so far, and removes them.
  [[nodiscard]] std::vector<std::string> TakeViolations();

 private:
  struct Known {
    std::string token;
    bool has_ended = false;
  };
  struct Attack {
    std::string_view name;
    std::string attempt_id;
    bool must_be_refused = true;  ///< otherwise it may be dismissed, and gets no cluster
    std::shared_ptr<SimulatedConnection> connection;
  };
  void Connect(std::string_view name, const std::string& attempt_id, const std::string& token,
               bool must_be_refused);
  [[nodiscard]] std::vector<std::string> Those(bool has_ended) const;
  [[nodiscard]] std::string OneThat(bool has_ended);

  boost::asio::any_io_executor loop_;
  std::mt19937_64& random_;
  ReplicaLinkObserver& server_;
  std::map<std::string, Known> known_;
  std::vector<Attack> attacks_;
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
