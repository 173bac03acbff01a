#include "engine/kubernetes/kubernetes_engine.h"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/on_pool.h"
#include "rules/placement/device.h"

namespace trainyard::engine {

namespace {

namespace asio = boost::asio;
using kubernetes::Failure;
using kubernetes::NotCreated;
using kubernetes::Refusal;
using placement::GangKey;
using placement::Submission;

/// How long an agent waits until a watch has shown its pod on its node; after that it has to reconnect. Less
/// than an agent waits for its first answer (agent::kConnectWaitMax).
constexpr std::chrono::seconds kPlaceMax{8};
constexpr std::chrono::seconds kRemovePause{2};
constexpr std::chrono::seconds kRemovePauseMax{60};

/// Gangs whose pods may go to the same nodes take turns.
std::string LineOf(const kubernetes::KubernetesSettings& settings, const placement::Gang& gang) {
  std::string line;
  if (const auto region = settings.regions.find(gang.region); region != settings.regions.end())
    for (const auto& [label, value] : region->second) line += label + "=" + value + ",";
  std::set<std::string> devices;
  for (const placement::Gang::Replica& replica : gang.replicas) {
    if (replica.accelerator_count == 0) continue;
    // Types without a rule are all on the same nodes.
    const std::string type = placement::AcceleratorName(replica.accelerator);
    devices.insert(settings.accelerators.contains(type) ? type : kubernetes::AcceleratorOptions().resource);
  }
  for (const std::string& device : devices) line += device + ",";
  return line;
}

NotCreated MeaningOf(Failure failure) {
  switch (failure) {
    case Failure::kLater: return NotCreated::kLater;
    case Failure::kNoAnswer: return NotCreated::kNoAnswer;
    case Failure::kMistake:
    case Failure::kThere:
    case Failure::kGone: break;
  }
  return NotCreated::kMistake;
}

/// Creates the Secret, then what it owns, the pods last; what exists already is right, since only this
/// installation uses the names. Blocking.
KubeAnswer<void> CreateAll(const KubeClient& client, const kubernetes::Batch& batch,
                           const kubernetes::PodsRequest& request,
                           const kubernetes::KubernetesSettings& settings, const std::string& ticket) {
  KubeAnswer<std::string> uid = client.CreateSecret(kubernetes::SecretJson(batch, ticket));
  if (!uid && uid.error().failure == Failure::kThere)
    uid = client.FindSecret(kubernetes::SecretName(batch.installation, batch.submission));
  if (!uid) return std::unexpected(std::move(uid.error()));
  if (batch.has_pod_group) {
    const std::string group = kubernetes::PodGroupJson(batch, request, settings, *uid);
    const KubeAnswer<void> made = client.CreatePodGroup(group);
    if (!made && made.error().failure != Failure::kThere) {
      Refusal refusal = made.error();
      refusal.unblock += " Or start the server again: it asks then what the cluster serves.";
      return std::unexpected(std::move(refusal));
    }
  }
  for (int slot = 0; slot < std::ssize(request.slots); ++slot) {
    const KubeAnswer<void> made = client.CreatePod(kubernetes::PodJson(batch, request, slot, settings, *uid));
    if (!made && made.error().failure != Failure::kThere) return made;
  }
  return {};
}

}  // namespace

Result<std::unique_ptr<KubernetesEngine>> KubernetesEngine::Open(asio::any_io_executor loop,
                                                                 const std::string& database, Options options,
                                                                 RemoteAttemptHost& host) {
  TY_TRY(std::unique_ptr<AgentSlots> slots, AgentSlots::Open(loop, database));
  return std::unique_ptr<KubernetesEngine>(
      new KubernetesEngine(std::move(loop), std::move(options), host, std::move(slots)));
}

KubernetesEngine::KubernetesEngine(asio::any_io_executor loop, Options options, RemoteAttemptHost& host,
                                   std::unique_ptr<AgentSlots> slots)
    : ClusterEngine({.loop = loop,
                     .clock = options.clock,
                     .host = host,
                     .slots = std::move(slots),
                     .rules = gangs_,
                     .agent_mark = placement::kPodMark}),
      options_(std::move(options)),
      gangs_(installation(), {.scheduler = options_.scheduler,
                              .queue = options_.settings.queue,
                              .turn = options_.settings.turn,
                              .pull_max = options_.settings.pull_max}),
      nodes_(*options_.client, options_.clock),
      changed_(loop),
      never_(loop),
      tasks_(std::move(loop)) {}

PodWatchHandlers KubernetesEngine::Handlers() {
  const auto changed = [this] {
    changed_.Set();
    changed_.Reset();
    Wake();
  };
  return {.on_list =
              [this, changed](std::vector<kubernetes::Pod> pods, SysTime asked) {
                gangs_.OnListed(std::move(pods), asked, Now());
                changed();
              },
          .on_event =
              [this, changed](PodEvent event) {
                if (event.kind == PodEvent::Kind::kGone)
                  gangs_.OnPodGone(event.pod, Now());
                else
                  gangs_.OnPod(std::move(event.pod), Now());
                changed();
              },
          .on_failed =
              [this](const std::string& words) {
                gangs_.OnListFailed(words, Now());
                Wake();
              }};
}

void KubernetesEngine::Begin() {
  watch_.emplace(
      *options_.client, options_.clock, loop(),
      PodWatchOptions{.selector = std::string(kubernetes::kInstallationLabel) + "=" + installation()},
      Handlers());
}

asio::awaitable<void> KubernetesEngine::Act() {
  co_await DoAll(*this, gangs_.Next(Now()));
  changed_.Set();  // pods of a list may have been read
  changed_.Reset();
}

bool KubernetesEngine::OffersAccelerator(const std::string& region, ml::v1::AcceleratorConfig::Type type) {
  if (nodes_.are_old()) tasks_.Spawn(nodes_.Look(asking_));
  return kubernetes::HasAccelerator(nodes_.nodes(), options_.settings, region, type);
}

// --- reservations

void KubernetesEngine::WantFormer(const SubmissionRecord& submitted) {
  gangs_.Want({.key = submitted.submission.gang,
               .slots = static_cast<int>(submitted.replicas.size()),
               .last_submission = submitted.submission.number,
               .may_have_run = true},
              Now());
}

void KubernetesEngine::Want(const ReservationRequest& request, const SubmissionRecord* known) {
  kubernetes::WantedPods wanted{.key = KeyOf(request.key),
                                .slots = static_cast<int>(request.gang.replicas.size()),
                                .priority = request.gang.priority,
                                .line = LineOf(options_.settings, request.gang),
                                .granted = request.granted.has_value()};
  if (request.granted) wanted.last_submission = NumberOf(*request.granted);
  if (known != nullptr) {
    wanted.last_submission = known->submission.number;
    for (const auto& [slot, holder] : known->holders) wanted.attached.emplace(slot, holder.node.name());
  }
  gangs_.Want(std::move(wanted), Now());
}

std::string KubernetesEngine::WhyRefused(const GangKey& gang) const {
  const auto found = refused_.find(gang);
  return found == refused_.end() ? std::string() : found->second;
}

std::string KubernetesEngine::ObjectOf(const GangKey& gang) const {
  return "ty-" + installation() + "-" + std::to_string(gang.job_uid) + "-" + std::to_string(gang.try_number);
}

std::string KubernetesEngine::PlaceNote(const Submission& submission, const std::string& nodes) const {
  return "Kubernetes runs it as the pods " + kubernetes::SecretName(installation(), submission) +
         "-* of the namespace " + options_.client->name_space() + " on " + nodes + ".";
}

// --- objects

kubernetes::Batch KubernetesEngine::BatchOf(const Submission& submission, const placement::Gang& gang) const {
  return {.installation = installation(),
          .submission = submission,
          .job_id = gang.job_id,
          .boot = options_.boot,
          .running_limit = gang.running_limit,
          .front_names = options_.front_names,
          .has_pod_group =
              options_.scheduler == kubernetes::GangScheduler::kPodGroups && gang.replicas.size() > 1};
}

asio::awaitable<std::optional<KubeAnswer<void>>> KubernetesEngine::Make(Submission submission) {
  const Reservation* const reservation = Find(submission.gang);
  const auto making = making_.find(submission);
  if (reservation == nullptr || making == making_.end() || !gangs_.IsCurrent(submission))
    co_return std::nullopt;
  auto create = [&client = *options_.client, batch = BatchOf(submission, reservation->request.gang),
                 making = making->second, settings = options_.settings] {
    return CreateAll(client, batch, making.request, settings, making.ticket);
  };
  co_return co_await OnPool(asking_, std::move(create));
}

asio::awaitable<void> KubernetesEngine::CreateGang(Submission submission) {
  const auto fail = [this, &submission](NotCreated why, placement::Shortage words) {
    if (why != NotCreated::kNoAnswer) making_.erase(submission);
    gangs_.OnNotCreated(submission, why, std::move(words), Now());
    Wake();
  };
  if (!making_.contains(submission)) {
    co_await nodes_.Look(asking_);
    Reservation* reservation = Find(submission.gang);
    if (reservation == nullptr || !gangs_.IsCurrent(submission))
      co_return fail(NotCreated::kLater, {.reason = "The job no longer needs it."});
    kubernetes::PodsRequest request =
        kubernetes::RequestOf(reservation->request.gang, options_.settings, nodes_.nodes());
    if (!request.lack.empty())
      co_return fail(NotCreated::kNever, {.reason = request.lack, .unblock = request.remedy, .never = true});
    reservation->notes = request.notes;
    std::vector<int> replicas;
    for (int slot = 0; slot < std::ssize(request.slots); ++slot) replicas.push_back(slot);
    Result<std::string> ticket = co_await slots().Issue(submission, std::move(replicas));
    if (!ticket)
      co_return fail(NotCreated::kLater,
                     {.reason = "The request cannot be recorded (" + ticket.error().message + ").",
                      .unblock = "It is tried again after a pause."});
    making_.emplace(submission, Making{.ticket = *std::move(ticket), .request = std::move(request)});
  }
  const std::optional<KubeAnswer<void>> made = co_await Make(submission);
  if (!made) co_return fail(NotCreated::kLater, {.reason = "The job no longer needs it."});
  if (!*made) {
    const Refusal& refusal = made->error();
    co_return fail(MeaningOf(refusal.failure), {.reason = refusal.words, .unblock = refusal.unblock});
  }
  making_.erase(submission);
  Diagnose(DiagnosticLevel::kInfo,
           NameOf(submission.gang) + " has its pods, submission " + std::to_string(submission.number));
  gangs_.OnCreated(submission, Now());
  Wake();
}

void KubernetesEngine::Do(const kubernetes::Remove& action) {
  if (removing_.insert(action.submission).second) tasks_.Spawn(RemoveGang(action));
}

asio::awaitable<void> KubernetesEngine::RemoveGang(kubernetes::Remove action) {
  const Submission submission = action.submission;
  const std::string name = kubernetes::SecretName(installation(), submission);
  std::chrono::seconds pause = kRemovePause;
  for (;;) {
    auto remove = [&client = *options_.client, name] { return client.DeleteSecret(name); };
    const KubeAnswer<void> removed = co_await OnPool(asking_, std::move(remove));
    if (removed) break;
    Diagnose(DiagnosticLevel::kWarning,
             name + " cannot be deleted in Kubernetes yet: " + removed.error().words);
    co_await never_.WaitFor(pause);
    pause = std::min(2 * pause, kRemovePauseMax);
  }
  if (action.waits && !options_.settings.queue.empty()) co_await LeaveQueue(name);
  removing_.erase(submission);
  gangs_.OnRemoved(submission);
  Wake();
}

void KubernetesEngine::TellAboutQueue(const std::string& what, const Refusal& refusal) {
  if (!told_about_queue_.insert(what).second) return;
  Diagnose(DiagnosticLevel::kWarning,
           "Workloads of Kueue cannot be " + what +
               " (docs/kubernetes.md names the right that is needed): " + refusal.words);
}

/// Kueue would let pods that are being deleted have their quota until Kubernetes has counted them as failed.
asio::awaitable<void> KubernetesEngine::LeaveQueue(std::string workload) {
  auto leave = [&client = *options_.client, workload] { return client.DeleteWorkload(workload); };
  const KubeAnswer<void> left = co_await OnPool(asking_, std::move(leave));
  if (!left)
    TellAboutQueue("deleted, so pods that are cancelled may keep their quota for some 20 s", left.error());
}

void KubernetesEngine::Drop(const GangKey& gang) {
  refused_.erase(gang);
  std::erase_if(making_, [&gang](const auto& one) { return one.first.gang == gang; });
}

/// An autoscaler says in an event that it adds nodes for a pod. Events that cannot be read mean that it does
/// not.
asio::awaitable<void> KubernetesEngine::LookForScaleUp(kubernetes::LookForScaleUp action) {
  auto ask = [&client = *options_.client, pod = action.pod] { return client.WarningsOf(pod); };
  const KubeAnswer<std::vector<std::string>> events = co_await OnPool(asking_, std::move(ask));
  const auto is_scale_up = [](const std::string& event) { return event.starts_with(kTriggeredScaleUp); };
  if (!events || std::ranges::none_of(*events, is_scale_up)) co_return;
  gangs_.OnScaleUp(action.submission, Now());
  Wake();
}

/// If the queue does not answer, the job does not say why it waits: the right to read Workloads is optional.
asio::awaitable<void> KubernetesEngine::AskQueue(Submission submission) {
  auto ask = [&client = *options_.client, name = kubernetes::SecretName(installation(), submission)] {
    return client.QueueWords(name);
  };
  const KubeAnswer<std::string> words = co_await OnPool(asking_, std::move(ask));
  if (!words) co_return TellAboutQueue("read, so jobs do not say why they wait in its queue", words.error());
  gangs_.OnQueueWords(submission, *words);
  Wake();
}

// --- agents

/// The ticket is in a Secret, so the agent that shows it is in the pod, or has rights to read Secrets. What
/// is checked besides is that the pod is still there, and on that node. The connection's address is not:
/// clusters often translate the addresses of pods.
asio::awaitable<Status> KubernetesEngine::CheckPlace(Submission submission, int slot, std::string node,
                                                     AgentOrigin origin) {
  const auto until = std::chrono::steady_clock::now() + kPlaceMax;
  for (;;) {
    if (!origin.is_there()) co_return std::unexpected(Unavailable("the agent has disconnected"));
    if (!gangs_.IsCurrent(submission))
      co_return std::unexpected(Error{Code::kPermissionDenied, "The job's resources were released.", {}});
    const std::string known = gangs_.NodeOf(submission, slot);
    if (known == node) break;
    // It may have missed the signal that ends it, which comes only once.
    if (gangs_.IsLeaving(submission, slot))
      co_return std::unexpected(Error{Code::kPermissionDenied, "Its pod is being deleted.", {}});
    const auto rest = until - std::chrono::steady_clock::now();
    if (!known.empty() || rest <= rest.zero()) {
      std::string& why = refused_[submission.gang];
      why = known.empty() ? "An agent connected from " + node + ", where no pod of the job is known to run."
                          : "An agent connected from " + node + ", but its pod runs on " + known + ".";
      co_return std::unexpected(known.empty() ? Unavailable(why) : Error{Code::kPermissionDenied, why, {}});
    }
    co_await changed_.WaitFor(rest);
  }
  refused_.erase(submission.gang);
  co_return Status();
}

}  // namespace trainyard::engine
