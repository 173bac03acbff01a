#pragma once

#include <boost/asio/any_io_executor.hpp>
#include <boost/asio/awaitable.hpp>
#include <boost/asio/thread_pool.hpp>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/async/guarded.h"
#include "base/async/task_group.h"
#include "base/result.h"
#include "engine/remote/agent_book.h"
#include "trainyard/agent/v1/agent.pb.h"

namespace trainyard::engine {

/// Which agent has which slot: each ticket can be used once for each slot of its submission, and an agent
/// that has taken a slot keeps it. Kept in memory, and written to DATA/engines.db before anybody may rely on
/// it. Loop thread only.
class AgentSlots {
 public:
  /// Blocking. Errors: those of the database.
  [[nodiscard]] static Result<std::unique_ptr<AgentSlots>> Open(boost::asio::any_io_executor loop,
                                                                const std::string& database);

  [[nodiscard]] const std::string& installation() const noexcept { return installation_; }
  [[nodiscard]] const std::map<placement::GangKey, SubmissionRecord>& all() const noexcept {
    return submitted_;
  }
  /// The gang's last submission; null: it was not submitted.
  [[nodiscard]] const SubmissionRecord* Find(const placement::GangKey& gang) const;

  /// Records a new submission of the gang durably, in place of the old one. Returns its ticket, which cannot
  /// be guessed.
  boost::asio::awaitable<Result<std::string>> Issue(placement::Submission submission,
                                                    std::vector<int> replicas);
  /// The slot of an agent that connects or reconnects. kPermissionDenied: the ticket is void, the slot is
  /// another agent's or does not exist; other errors: it cannot be recorded now.
  struct SlotClaim {
    placement::Submission submission;
    int slot = 0;
  };
  boost::asio::awaitable<Result<SlotClaim>> Take(agent::v1::FromAgent::Hello hello);
  /// Which slot the agent requests, and whether it already has it. Changes nothing; errors as Take.
  struct SlotQuery {
    SlotClaim slot;
    bool is_holder = false;
  };
  [[nodiscard]] Result<SlotQuery> Look(const agent::v1::FromAgent::Hello& hello) const;
  /// Whether the ticket is valid.
  [[nodiscard]] bool Knows(const std::string& ticket) const;
  /// Records that this server is about to cancel the ids of the gang's submission. Returns once that is
  /// durable: to the next server, a cancelled job that is not recorded was cancelled by a user.
  boost::asio::awaitable<Status> NoteCancels(placement::GangKey gang, std::vector<std::int64_t> ids);
  void VoidTicket(const placement::Submission& submission);
  void Drop(const placement::GangKey& gang);

 private:
  AgentSlots(boost::asio::any_io_executor loop, AgentBook book, std::string installation,
             std::vector<SubmissionRecord> known);
  void Remember(SubmissionRecord submitted);
  /// A write to book_, made on the thread of writes_.
  struct Write {
    std::function<Status()> work;
    std::optional<Status> done{};
  };
  using Writes = std::deque<std::shared_ptr<Write>>;
  boost::asio::awaitable<Status> WriteDown(std::function<Status()> work);
  void WriteGroup();
  void WriteLater(std::string what, std::function<Status()> work);
  boost::asio::awaitable<void> WriteOrComplain(std::string what, std::function<Status()> work);

  AgentBook book_;  ///< used on the thread of writes_ only
  Guarded<Writes> to_write_;
  std::string installation_;
  std::map<placement::GangKey, SubmissionRecord> submitted_;
  std::map<std::string, placement::Submission> tickets_;  ///< by SHA-256
  boost::asio::thread_pool writes_{1};
  TaskGroup tasks_;
};

}  // namespace trainyard::engine
