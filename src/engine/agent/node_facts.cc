#include "engine/agent/node_facts.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <limits.h>
#include <net/if.h>
#include <sched.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/asio/ip/address.hpp>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <tuple>
#include <utility>

#include "base/async/file.h"
#include "base/process/run_program.h"
#include "engine/agent/way_out.h"
#include "engine/local/container_support.h"
#include "engine/local/google_front_files.h"
#include "engine/local/machine.h"
#include "programs/attempt/frame.h"
#include "programs/environment/python_probe.h"
#include "programs/environment/uv.h"

namespace trainyard::agent {

namespace {

std::string HostName() {
  std::array<char, HOST_NAME_MAX + 1> name{};
  return ::gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

int Cpus() {
  cpu_set_t set;
  return std::max(::sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1, 1);
}

std::int64_t MemoryBytes() {
  struct sysinfo found{};
  return ::sysinfo(&found) == 0 ? static_cast<std::int64_t>(found.totalram) * found.mem_unit : 0;
}

/// The cluster limits memory and CPUs of the slot, so those limits are not missing. Root isolates
/// differently.
std::string IsolationLacking() {
  const Status namespaces = ::geteuid() == 0 ? Status() : engine::CheckUserNamespaces();
  if (namespaces) return {};
  return "TensorFlow's gs://, gsutil and /gcs do not work in replicas here, and they see each other's "
         "files: " +
         namespaces.error().message;
}

std::string TextOf(const sockaddr* address) {
  std::array<char, INET6_ADDRSTRLEN> text{};
  const void* bytes = nullptr;
  if (address->sa_family == AF_INET) bytes = &reinterpret_cast<const sockaddr_in*>(address)->sin_addr;
  if (address->sa_family == AF_INET6) {
    const auto* v6 = reinterpret_cast<const sockaddr_in6*>(address);
    if (IN6_IS_ADDR_LINKLOCAL(&v6->sin6_addr)) return {};  // useless without its interface
    bytes = &v6->sin6_addr;
  }
  if (bytes == nullptr || ::inet_ntop(address->sa_family, bytes, text.data(), text.size()) == nullptr)
    return {};
  return text.data();
}

template <class Facts>
auto Texts(Facts& facts) {
  return std::array{&facts.container_address, &facts.doors_lacking, &facts.gcs_lacking};
}

/// The text that the child process sends to its parent.
std::string Print(const NodeFacts& facts) {
  std::string frames;
  replica::AppendFrame(facts.node, frames);
  replica::AppendFrame(facts.isolations.program, frames);
  replica::AppendFrame(facts.isolations.build, frames);
  for (const std::string* text : Texts(facts)) replica::AppendFrame(*text, frames);
  return frames;
}

Result<NodeFacts> Parse(std::string_view frames) {
  replica::FrameReader reader;
  reader.Feed(frames);
  NodeFacts facts;
  std::string_view content;
  const auto take = [&](google::protobuf::Message& message) {
    return reader.Next(content).value_or(false) &&
           message.ParseFromArray(content.data(), static_cast<int>(content.size()));
  };
  bool complete = take(facts.node) && take(facts.isolations.program) && take(facts.isolations.build);
  for (std::string* text : Texts(facts)) {
    complete = complete && reader.Next(content).value_or(false);
    if (complete) *text = content;
  }
  if (complete) return facts;
  return std::unexpected(Internal("the process that inspects this node ended before it reported everything"));
}

void FindRuntimes(NodeFacts& facts) {
  const auto containers = engine::FindContainerSupport({}, replica::v1::Manifest::HOST, false);
  if (!containers) return facts.node.set_containers_lacking(containers.error().message);
  facts.node.set_container_runtime(containers->kind);
  facts.node.set_containers_lacking(containers->lacking);
  facts.container_address = containers->address;
}

/// Finds out what the kernel and the machine allow. It tries sandboxes, and each trial kills all children of
/// its process: call it in a process that has no others.
NodeFacts FindWhatIsAllowed(const NodeQuestion& question) {
  NodeFacts facts;
  v1::Node& node = facts.node;
  node.set_isolation_lacking(IsolationLacking());
  facts.isolations = engine::FindIsolations();
  const Status gcs = node.isolation_lacking().empty()
                         ? engine::EnsureGcsFolder()
                         : std::unexpected(FailedPrecondition(node.isolation_lacking()));
  if (!gcs) facts.gcs_lacking = gcs.error().message;
  if (const Status doors = engine::CheckConnectDoors(); !doors) facts.doors_lacking = doors.error().message;
  if (question.has_runtimes) FindRuntimes(facts);
  return facts;
}

}  // namespace

Result<NodeFacts> FindNodeFacts(const NodeQuestion& question) {
  TY_TRY(AskedChild allowed, AskedChild::Start([&question] { return Print(FindWhatIsAllowed(question)); }));
  // Meanwhile this process waits for programs and for the network.
  const auto pythons = environment::ProbePythons(question.environments_dir).pythons;
  std::string way_out_lacking = FindWayOutLacking(
      environment::ToolVariables({question.environments_dir}, environment::ToolCache::kNone));
  TY_TRY(NodeFacts facts, Parse(std::move(allowed).Take()));
  v1::Node& node = facts.node;
  node.set_host_name(HostName());
  node.set_cpus(Cpus());
  node.set_memory_bytes(MemoryBytes());
  for (const environment::Python& python : pythons) node.add_pythons(python.version);
  node.set_way_out_lacking(std::move(way_out_lacking));
  return facts;
}

Result<NodeFacts> FindNodeFactsApart(const NodeQuestion& question, void (*forget)()) {
  TY_TRY(const std::string said, AnswerOfChild([&question, forget] {
           forget();
           const Result<NodeFacts> facts = FindNodeFacts(question);
           return facts ? Print(*facts) : std::string();
         }));
  return Parse(said);
}

Result<NodeFacts> KeptNodeFacts(const std::string& file, const NodeQuestion& question, void (*forget)()) {
  struct stat kept{};
  const bool is_ours = ::stat(file.c_str(), &kept) == 0 && kept.st_uid == ::geteuid();
  const auto age = std::chrono::system_clock::now() - std::chrono::system_clock::from_time_t(kept.st_mtime);
  if (is_ours && age < kNodeFactsKept) {
    if (Result<NodeFacts> facts = Parse(ReadFile(file).value_or(""))) {
      facts->node.set_host_name(HostName());
      facts->node.set_cpus(Cpus());
      facts->node.set_memory_bytes(MemoryBytes());
      return facts;
    }
  }
  TY_TRY(NodeFacts facts, FindNodeFactsApart(question, forget));
  // If it cannot be written, the next agent looks again.
  if (MakeFolders(std::filesystem::path(file).parent_path()))
    std::ignore = WriteFileAtomically(file, Print(facts), 0600);
  return facts;
}

std::string AddressForOthers(const std::string& own) {
  boost::system::error_code error;
  const auto address = boost::asio::ip::make_address(own, error);
  if (!error && !address.is_loopback()) return own;
  ifaddrs* list = nullptr;
  if (::getifaddrs(&list) != 0) return own;
  std::string found;
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* one = list; one != nullptr && found.empty(); one = one->ifa_next) {
      const bool is_up = (one->ifa_flags & IFF_UP) != 0 && (one->ifa_flags & IFF_RUNNING) != 0;
      if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != family || !is_up ||
          (one->ifa_flags & IFF_LOOPBACK) != 0)
        continue;
      found = TextOf(one->ifa_addr);
    }
  }
  ::freeifaddrs(list);
  return found.empty() ? own : found;
}

}  // namespace trainyard::agent
