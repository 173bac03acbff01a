#include "programs/sandbox/required_isolation.h"

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "base/process/run_program.h"
#include "programs/sandbox/patience.h"
#include "programs/sandbox/sandbox_init.h"

namespace trainyard::replica {

namespace {

/// A view with the features that every program's has; the view of a build is made by what runs in the
/// sandbox.
FileView ViewOf(bool is_build) {
  FileView view;
  if (is_build) return view;
  view.shared_memory = true;
  if (access("/sys", F_OK) == 0) view.read_only.emplace_back("/sys");
  return view;
}

/// Whether the kernel makes these namespaces for us, with what is mounted in them.
Status Try(Isolation isolation, bool is_build) {
  const SandboxPlan plan{.function = [] { return 0; },
                         .isolation = isolation,
                         .view = ViewOf(is_build),
                         .root_inside = is_build && geteuid() == 0 && HasUserNamespace(isolation)};
  TY_TRY(Sandbox sandbox, Sandbox::Start(plan));
  pollfd ended{.fd = sandbox.pidfd(), .events = POLLIN, .revents = 0};
  while (poll(&ended, 1, -1) < 0 && errno == EINTR) {
  }
  static_cast<void>(sandbox.Reap());
  return {};
}

RequiredIsolation FindHere(bool is_build) {
  RequiredIsolation found{.isolation = BestIsolation(), .reason = {}};
  while (found.isolation != Isolation::kNone) {
    const Status tried = Patiently([&] { return Try(found.isolation, is_build); });
    if (tried || tried.error().code != Code::kPermissionDenied) break;
    found.reason = tried.error().message;
    found.isolation = static_cast<Isolation>(std::to_underlying(found.isolation) + 1);
  }
  return found;
}

}  // namespace

Isolation BestIsolation() { return geteuid() == 0 ? Isolation::kNamespaces : Isolation::kUserNamespaces; }

RequiredIsolation FindIsolation(bool is_build) {
  const RequiredIsolation unknown{.isolation = BestIsolation(), .reason = {}};
  // Sandboxes must be started from a single-threaded process.
  const Result<std::string> answer =
      AnswerOfChild([is_build] { return PrintIsolation(FindHere(is_build)).SerializeAsString(); });
  v1::Manifest::Isolation found;
  if (!answer || answer->empty() || !found.ParseFromString(*answer)) return unknown;
  return ReadIsolation(found);
}

RequiredIsolation ReadIsolation(const v1::Manifest::Isolation& found) {
  switch (found.kind()) {
    case v1::Manifest::Isolation::NAMESPACES: return {Isolation::kNamespaces, found.reason()};
    case v1::Manifest::Isolation::USER_NAMESPACES: return {Isolation::kUserNamespaces, found.reason()};
    case v1::Manifest::Isolation::NO_PID_NAMESPACE: return {Isolation::kNoPidNamespace, found.reason()};
    case v1::Manifest::Isolation::NONE: return {Isolation::kNone, found.reason()};
    default: return {.isolation = BestIsolation(), .reason = {}};
  }
}

v1::Manifest::Isolation PrintIsolation(const RequiredIsolation& required) {
  const auto kind_of = [](Isolation isolation) {
    switch (isolation) {
      case Isolation::kNamespaces: return v1::Manifest::Isolation::NAMESPACES;
      case Isolation::kUserNamespaces: return v1::Manifest::Isolation::USER_NAMESPACES;
      case Isolation::kNoPidNamespace: return v1::Manifest::Isolation::NO_PID_NAMESPACE;
      case Isolation::kNone: return v1::Manifest::Isolation::NONE;
    }
    return v1::Manifest::Isolation::KIND_UNSPECIFIED;
  };
  v1::Manifest::Isolation printed;
  printed.set_kind(kind_of(required.isolation));
  printed.set_reason(required.reason);
  return printed;
}

}  // namespace trainyard::replica
