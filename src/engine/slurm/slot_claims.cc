#include "engine/slurm/slot_claims.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/async/on_pool.h"
#include "net/http/listening_socket.h"

namespace trainyard::engine {

namespace {

namespace ip = boost::asio::ip;

/// Normalizes the address: an IPv4-mapped one becomes IPv4, and the scope id is removed.
ip::address Plain(const ip::address& address) {
  if (!address.is_v6()) return address;
  const ip::address_v6 v6 = address.to_v6();
  if (v6.is_v4_mapped()) return ip::make_address_v4(ip::v4_mapped, v6);
  return ip::address_v6(v6.to_bytes());
}

namespace asio = boost::asio;
using slurm::Claim;
using slurm::Submission;
using std::chrono::steady_clock;

constexpr const char* kGone = "the agent has gone";

std::unexpected<Error> Refuse(std::string reason) {
  return std::unexpected(Error{Code::kPermissionDenied, std::move(reason), {}});
}

}  // namespace

SlotClaims::SlotClaims(asio::any_io_executor loop, const SlurmClient& client, SlurmNodes& nodes,
                       std::string installation)
    : client_(client),
      nodes_(nodes),
      installation_(std::move(installation)),
      listed_(loop),
      names_(loop),
      tasks_(std::move(loop)) {}

std::vector<slurm::CancelJobs> SlotClaims::OnListed(bool all, slurm::OurJobs& ours) {
  std::vector<slurm::CancelJobs> others = claims_.OnListed(all, ours);
  listed_.Set();
  listed_.Reset();
  return others;
}

void SlotClaims::Forget(const slurm::GangKey& gang) {
  claims_.Forget(gang);
  refused_.erase(gang);
  std::erase_if(asked_, [&gang](const auto& one) { return one.first.gang == gang; });
}

std::string SlotClaims::WhyRefused(const slurm::GangKey& gang) const {
  const auto found = refused_.find(gang);
  return found == refused_.end() ? "" : found->second;
}

asio::awaitable<Status> SlotClaims::Check(Submission submission, std::string node, AgentOrigin origin,
                                          std::function<bool()> is_current) {
  TY_CO_RETURN_IF_ERROR(co_await CheckRuns(submission, node, origin, std::move(is_current)));
  TY_CO_RETURN_IF_ERROR(co_await CheckPlace(submission, std::move(node), origin.from));
  if (!origin.is_there()) co_return std::unexpected(Unavailable(kGone));
  co_return Status();
}

asio::awaitable<Status> SlotClaims::CheckRuns(Submission submission, std::string node, AgentOrigin origin,
                                              std::function<bool()> is_current) {
  const auto deadline = steady_clock::now() + kClaimMax;
  for (;;) {
    if (!is_current()) co_return Refuse("The job's resources were released.");
    if (!origin.is_there()) co_return std::unexpected(Unavailable(kGone));
    switch (claims_.ClaimOf(submission, node)) {
      case Claim::kRight: co_return Status();
      case Claim::kElsewhere:
        co_return Refuse("Slurm has allocated other nodes to the job than " + node + ".");
      case Claim::kEarly: break;
    }
    if (steady_clock::now() >= deadline)
      co_return std::unexpected(Unavailable("Slurm does not report yet that the job runs"));
    AskFor(submission);
    co_await listed_.WaitFor(kClaimPause);
  }
}

/// Asks Slurm about the submission's job. If its id is not known yet, the lists of all jobs tell, which are
/// fetched often while it waits.
void SlotClaims::AskFor(const Submission& submission) {
  const auto id = claims_.IdOf(submission);
  const auto [asked, is_first] = asked_.try_emplace(submission, steady_clock::now());
  const bool is_due = is_first || steady_clock::now() >= asked->second + kClaimPause;
  if (!id || !is_due || asking_now_ >= kClaimsAskedMax) return;
  asked->second = steady_clock::now();
  tasks_.Spawn(Ask(*id));
}

asio::awaitable<void> SlotClaims::Ask(std::int64_t id) {
  ++asking_now_;
  auto ask = [&client = client_, id, installation = installation_]() -> SlurmAnswer<slurm::OurJobs> {
    SlurmAnswer<std::vector<slurm::ListedJob>> jobs = client.List(id);
    if (!jobs) return std::unexpected(std::move(jobs.error()));
    return slurm::OursOf(installation, *std::move(jobs));
  };
  SlurmAnswer<slurm::OurJobs> ours = co_await OnPool(asking_, std::move(ask));
  --asking_now_;
  if (ours) OnListed(false, *ours);
}

asio::awaitable<Status> SlotClaims::CheckPlace(Submission submission, std::string node,
                                               asio::ip::address from) {
  const std::string host = nodes_.AddressOf(node);
  NameLookup::Answer addresses;
  if (!host.empty()) addresses = co_await names_.Find(host);
  if (addresses && IsPlaceOf(*addresses, from, &http::IsOwnAddress)) co_return Status();
  if (nodes_.AreOlderThan(SlurmNodes::kDoubted)) tasks_.Spawn(nodes_.Look(asking_, SlurmNodes::kDoubted));
  std::string why = "An agent on " + node + " came from " + from.to_string() +
                    ", and Slurm's NodeAddr of it is " + (host.empty() ? "not known" : host) + ".";
  refused_[submission.gang] = why;
  co_return std::unexpected(Unavailable(std::move(why)));
}

bool IsPlaceOf(std::span<const ip::address> node, const ip::address& from,
               const std::function<bool(const ip::address&)>& is_own) {
  const ip::address plain = Plain(from);
  if (std::ranges::find(node, plain, &Plain) != node.end()) return true;
  return std::ranges::any_of(node, is_own) && is_own(plain);
}

}  // namespace trainyard::engine
