#include "programs/node/nvml_events.h"

#include <array>
#include <utility>

#include "programs/node/nvml_usage.h"

namespace trainyard::node {
namespace {

using NvmlEventSet = struct nvmlEventSet_st*;
constexpr unsigned long long kXidEvents = 0x8;
/// The most that one call takes: a broken GPU may report errors without end.
constexpr int kEventsMax = 256;

struct NvmlEvent {
  NvmlDevice device;
  unsigned long long type;
  unsigned long long data;  ///< the Xid
  unsigned gpu_instance;
  unsigned compute_instance;
};

struct EventCalls {
  NvmlReturn (*init)();
  NvmlReturn (*shutdown)();
  NvmlReturn (*by_uuid)(const char*, NvmlDevice*);
  NvmlReturn (*uuid)(NvmlDevice, char*, unsigned);
  NvmlReturn (*create)(NvmlEventSet*);
  NvmlReturn (*listen)(NvmlDevice, unsigned long long, NvmlEventSet);
  NvmlReturn (*wait)(NvmlEventSet, NvmlEvent*, unsigned milliseconds);
  NvmlReturn (*free)(NvmlEventSet);
};

Result<EventCalls> FindEventCalls(const NvmlLibrary& library) {
  EventCalls calls{};
  TY_RETURN_IF_ERROR(library.Find("nvmlInit_v2", calls.init));
  TY_RETURN_IF_ERROR(library.Find("nvmlShutdown", calls.shutdown));
  TY_RETURN_IF_ERROR(library.Find("nvmlDeviceGetHandleByUUID", calls.by_uuid));
  TY_RETURN_IF_ERROR(library.Find("nvmlDeviceGetUUID", calls.uuid));
  TY_RETURN_IF_ERROR(library.Find("nvmlEventSetCreate", calls.create));
  TY_RETURN_IF_ERROR(library.Find("nvmlDeviceRegisterEvents", calls.listen));
  TY_RETURN_IF_ERROR(library.Find("nvmlEventSetWait_v2", calls.wait));
  TY_RETURN_IF_ERROR(library.Find("nvmlEventSetFree", calls.free));
  return calls;
}

Status Check(NvmlReturn code, const char* step) {
  if (code == kNvmlSuccess) return {};
  return std::unexpected(Unavailable(std::string(step) + ": error " + std::to_string(code)));
}

Status Register(const EventCalls& calls, const std::string& uuid, NvmlEventSet set) {
  NvmlDevice device = nullptr;
  TY_RETURN_IF_ERROR(Check(calls.by_uuid(uuid.c_str(), &device), "nvmlDeviceGetHandleByUUID"));
  return Check(calls.listen(device, kXidEvents, set), "nvmlDeviceRegisterEvents");
}

}  // namespace

struct NvmlEvents::Session {
  NvmlLibrary library;
  EventCalls calls;
  NvmlEventSet set = nullptr;
};

void NvmlEvents::Close::operator()(Session* session) const {
  if (session->set != nullptr) session->calls.free(session->set);
  session->calls.shutdown();
  delete session;
}

Result<NvmlEvents> NvmlEvents::Open(const std::string& library, const std::vector<std::string>& uuids) {
  TY_TRY(NvmlLibrary loaded, NvmlLibrary::Open(library));
  TY_TRY(const EventCalls calls, FindEventCalls(loaded));
  TY_RETURN_IF_ERROR(Check(calls.init(), "nvmlInit"));
  Handle session(new Session{.library = std::move(loaded), .calls = calls});
  TY_RETURN_IF_ERROR(Check(calls.create(&session->set), "nvmlEventSetCreate"));
  std::vector<std::string> unreported;
  for (const std::string& uuid : uuids) {
    const Status registered = Register(calls, uuid, session->set);
    if (registered) continue;
    unreported.push_back("errors (Xid) of " + uuid + " are not reported (" + registered.error().message +
                         ")");
    if (unreported.size() == uuids.size()) return std::unexpected(registered.error());
  }
  return NvmlEvents(std::move(session), std::move(unreported));
}

std::map<std::string, std::vector<std::uint64_t>> NvmlEvents::Take() {
  std::map<std::string, std::vector<std::uint64_t>> errors;
  const EventCalls& calls = session_->calls;
  NvmlEvent event{};
  for (int i = 0; i < kEventsMax && calls.wait(session_->set, &event, 0) == kNvmlSuccess; ++i) {
    std::array<char, kNvmlTextBytes> uuid{};
    if (calls.uuid(event.device, uuid.data(), uuid.size()) == kNvmlSuccess)
      errors[uuid.data()].push_back(event.data);
  }
  return errors;
}

}  // namespace trainyard::node
