#include "engine/remote/agent_slots.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"
#include "base/async/random_bytes.h"
#include "base/text/hex.h"
#include "base/tls/sha256.h"

namespace trainyard::engine {

namespace {

namespace asio = boost::asio;
using placement::GangKey;
using placement::Submission;

/// The most writes in one transaction.
constexpr std::ptrdiff_t kGroupMax = 1'000;

std::string NewTicket() {
  const auto bytes = RandomBytes<std::array<unsigned char, 16>>();
  return text::Hex(bytes.data(), bytes.size());
}

std::unexpected<Error> Refuse(std::string reason) {
  return std::unexpected(Error{Code::kPermissionDenied, std::move(reason), {}});
}

}  // namespace

Result<std::unique_ptr<AgentSlots>> AgentSlots::Open(asio::any_io_executor loop,
                                                     const std::string& database) {
  TY_TRY(AgentBook book, AgentBook::Open(database));
  TY_TRY(std::string installation, book.Installation());
  TY_TRY(std::vector<SubmissionRecord> known, book.Load());
  return std::unique_ptr<AgentSlots>(
      new AgentSlots(std::move(loop), std::move(book), std::move(installation), std::move(known)));
}

AgentSlots::AgentSlots(asio::any_io_executor loop, AgentBook book, std::string installation,
                       std::vector<SubmissionRecord> known)
    : book_(std::move(book)), installation_(std::move(installation)), tasks_(std::move(loop)) {
  for (SubmissionRecord& submitted : known) Remember(std::move(submitted));
}

void AgentSlots::Remember(SubmissionRecord submitted) {
  const Submission submission = submitted.submission;
  if (!submitted.ticket_sha256.empty()) tickets_[submitted.ticket_sha256] = submission;
  submitted_[submission.gang] = std::move(submitted);
}

const SubmissionRecord* AgentSlots::Find(const GangKey& gang) const {
  const auto found = submitted_.find(gang);
  return found == submitted_.end() ? nullptr : &found->second;
}

asio::awaitable<Result<std::string>> AgentSlots::Issue(Submission submission, std::vector<int> replicas) {
  std::string ticket = NewTicket();
  SubmissionRecord submitted{
      .submission = submission, .ticket_sha256 = tls::Sha256Hex(ticket), .replicas = std::move(replicas)};
  auto put = [this, submitted] { return book_.Put(submitted); };
  TY_CO_RETURN_IF_ERROR(co_await WriteDown(std::move(put)));
  if (const SubmissionRecord* former = Find(submission.gang)) tickets_.erase(former->ticket_sha256);
  Remember(std::move(submitted));
  co_return ticket;
}

bool AgentSlots::Knows(const std::string& ticket) const { return tickets_.contains(tls::Sha256Hex(ticket)); }

Result<AgentSlots::SlotQuery> AgentSlots::Look(const agent::v1::FromAgent::Hello& hello) const {
  const auto ticket = tickets_.find(tls::Sha256Hex(hello.ticket()));
  if (ticket == tickets_.end())
    return Refuse("The ticket is not valid any more: the job's resources were released.");
  const SlotClaim slot{.submission = ticket->second, .slot = hello.slot()};
  const SubmissionRecord& submitted = submitted_.at(slot.submission.gang);
  if (slot.slot < 0 || slot.slot >= std::ssize(submitted.replicas))
    return Refuse("The grant has no slot " + std::to_string(slot.slot) + ".");
  const auto holder = submitted.holders.find(slot.slot);
  if (holder == submitted.holders.end()) return SlotQuery{.slot = slot};
  if (holder->second.instance_sha256 == tls::Sha256Hex(hello.instance()))
    return SlotQuery{.slot = slot, .is_holder = true};
  return Refuse("Another agent, on " + holder->second.node.name() +
                ", has the slot: the cluster has started the job twice.");
}

asio::awaitable<Result<AgentSlots::SlotClaim>> AgentSlots::Take(agent::v1::FromAgent::Hello hello) {
  TY_CO_TRY(const SlotQuery asked, Look(hello));
  const SlotClaim taken = asked.slot;
  if (asked.is_holder) co_return taken;
  SlotHolder holder{.instance_sha256 = tls::Sha256Hex(hello.instance()), .node = hello.node()};
  // Recorded in memory first: a second agent that connects during the write is rejected.
  submitted_.at(taken.submission.gang).holders.emplace(taken.slot, holder);
  auto put = [this, taken, holder] { return book_.PutHolder(taken.submission, taken.slot, holder); };
  const Status written = co_await WriteDown(std::move(put));
  if (written) co_return taken;
  if (const auto again = submitted_.find(taken.submission.gang);
      again != submitted_.end() && again->second.submission == taken.submission)
    again->second.holders.erase(taken.slot);
  co_return std::unexpected(Unavailable(written.error().message));
}

asio::awaitable<Status> AgentSlots::NoteCancels(GangKey gang, std::vector<std::int64_t> ids) {
  const SubmissionRecord* const known = Find(gang);
  if (known == nullptr) co_return Status();
  std::erase_if(ids, [known](std::int64_t id) { return known->cancelled.contains(id); });
  if (ids.empty()) co_return Status();
  auto put = [this, gang, ids]() -> Status {
    for (const std::int64_t id : ids) TY_RETURN_IF_ERROR(book_.PutCancel(gang, id));
    return Status();
  };
  TY_CO_RETURN_IF_ERROR(co_await WriteDown(std::move(put)));
  if (const auto again = submitted_.find(gang); again != submitted_.end())
    again->second.cancelled.insert(ids.begin(), ids.end());
  co_return Status();
}

void AgentSlots::VoidTicket(const Submission& submission) {
  const auto found = submitted_.find(submission.gang);
  if (found == submitted_.end() || found->second.submission != submission) return;
  tickets_.erase(std::exchange(found->second.ticket_sha256, {}));
  WriteLater("that a ticket is void", [this, submission] { return book_.VoidTicket(submission); });
}

void AgentSlots::Drop(const GangKey& gang) {
  const auto found = submitted_.find(gang);
  if (found == submitted_.end()) return;
  tickets_.erase(found->second.ticket_sha256);
  submitted_.erase(found);
  WriteLater("that a job is over", [this, gang] { return book_.Drop(gang); });
}

/// Each write has a task on the thread of writes_. The first task makes all waiting writes at once, since the
/// wait for the disk takes longest; the other tasks find theirs done.
asio::awaitable<Status> AgentSlots::WriteDown(std::function<Status()> work) {
  auto write = std::make_shared<Write>(std::move(work));
  to_write_.With([&write](Writes& writes) { writes.push_back(write); });
  auto settle = [this, write] {
    if (!write->done) WriteGroup();
    return *write->done;
  };
  co_return co_await OnPool(writes_, std::move(settle));
}

void AgentSlots::WriteGroup() {
  Writes group;
  to_write_.With([&group](Writes& writes) {
    const auto end = writes.begin() + std::min(std::ssize(writes), kGroupMax);
    group.assign(writes.begin(), end);
    writes.erase(writes.begin(), end);
  });
  const auto write_all = [&group]() -> Status {
    for (const std::shared_ptr<Write>& write : group) TY_RETURN_IF_ERROR(write->work());
    return Status();
  };
  const Status all = book_.Together(write_all);
  // A write that fails does not affect the others.
  for (const std::shared_ptr<Write>& write : group)
    write->done = all || group.size() == 1 ? all : book_.Together(write->work);
}

void AgentSlots::WriteLater(std::string what, std::function<Status()> work) {
  tasks_.Spawn(WriteOrComplain(std::move(what), std::move(work)));
}

/// If it cannot be written, the next server finds out from the cluster's lists.
asio::awaitable<void> AgentSlots::WriteOrComplain(std::string what, std::function<Status()> work) {
  const Status written = co_await WriteDown(std::move(work));
  if (!written) Diagnose(DiagnosticLevel::kWarning, what + " is not kept: " + written.error().message);
}

}  // namespace trainyard::engine
