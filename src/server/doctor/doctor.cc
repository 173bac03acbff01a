#include "server/doctor/doctor.h"

#include <fcntl.h>
#include <mntent.h>
#include <openssl/asn1.h>
#include <openssl/x509.h>
#include <sys/statvfs.h>
#include <sys/timex.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <filesystem>
#include <memory>
#include <string>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/tls/certificate.h"
#include "base/wire/json.h"
#include "engine/local/container_support.h"
#include "engine/local/machine.h"
#include "engine/local/machine_limits.h"
#include "net/http/listening_socket.h"
#include "net/sockets/port_owner.h"
#include "programs/environment/built_runtime.h"
#include "programs/environment/catalogue.h"
#include "programs/environment/python_probe.h"
#include "programs/node/inventory.h"
#include "rules/service/doctor_rules.h"
#include "server/options/serve_options.h"

namespace trainyard::server {
namespace {

/// What the probes look at.
struct DoctorPlaces {
  std::string data_dir;        ///< absolute; need not exist
  std::string server_url;      ///< of the server that uses it; empty: none
  std::string limits_lacking;  ///< as that server found it; determined here only if there is no server
};

namespace fs = std::filesystem;

/// How many writes are timed; the report has their median.
constexpr std::size_t kTimedWrites = 5;
constexpr std::size_t kWriteBytes = 4096;

/// The directory, or its nearest parent that exists.
std::string ExistingPart(const std::string& path) {
  fs::path part = path;
  std::error_code error;
  while (!fs::exists(part, error) && part.has_relative_path()) part = part.parent_path();
  return part;
}

Status CheckDataDirectory(const std::string& data) {
  const std::string folder = ExistingPart(data);
  if (::access(folder.c_str(), W_OK | X_OK) == 0) return {};
  return std::unexpected(ErrnoError(errno, "write to " + folder));
}

Status CheckPort(const std::string& data) {
  const ServeOptions defaults;
  const auto socket = http::ListenOnTcp(defaults.host, defaults.port);
  if (socket) return {};
  return std::unexpected(sockets::PortInUse(defaults.host + ":" + std::to_string(defaults.port),
                                            sockets::FindPortOwner(defaults.host, defaults.port), data));
}

/// The type of the file system with the directory: that of the longest mount point above it; of equal ones
/// the last.
std::string KindOfFileSystem(const std::string& folder) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> mounts(::setmntent("/proc/self/mounts", "re"),
                                                               ::endmntent);
  std::string kind = "unknown";
  std::size_t longest = 0;
  mntent entry{};
  std::array<char, 4096> text{};
  while (mounts != nullptr && ::getmntent_r(mounts.get(), &entry, text.data(), text.size()) != nullptr) {
    const std::string place = entry.mnt_dir;
    const bool is_above = place == "/" || folder == place || folder.starts_with(place + "/");
    if (!is_above || place.size() < longest) continue;
    longest = place.size();
    kind = entry.mnt_type;
  }
  return kind.starts_with("fuse") ? "fuse" : kind.starts_with("nfs") ? "nfs" : kind;
}

/// Times writes to a temporary file, whose name is removed at once.
Result<std::chrono::microseconds> TimeWrite(const std::string& folder) {
  std::string name = folder + "/.trainyard-doctor-XXXXXX";
  const UniqueFd file(::mkostemp(name.data(), O_CLOEXEC));
  if (!file) return std::unexpected(ErrnoError(errno, "make a file in " + folder));
  ::unlink(name.c_str());
  std::array<std::chrono::microseconds, kTimedWrites> took{};
  for (std::chrono::microseconds& one : took) {
    const auto begin = std::chrono::steady_clock::now();
    TY_RETURN_IF_ERROR(WriteAll(file.get(), std::string(kWriteBytes, 'x')));
    if (::fdatasync(file.get()) != 0) return std::unexpected(ErrnoError(errno, "sync a file in " + folder));
    one = std::chrono::duration_cast<std::chrono::microseconds>(std::chrono::steady_clock::now() - begin);
  }
  std::ranges::nth_element(took, took.begin() + kTimedWrites / 2);
  return took[kTimedWrites / 2];
}

service::DoctorFacts::Disk LookAtDisk(const std::string& data) {
  const std::string folder = ExistingPart(data);
  service::DoctorFacts::Disk disk{.folder = data, .kind = KindOfFileSystem(RealPath(folder))};
  struct statvfs space{};
  if (::statvfs(folder.c_str(), &space) == 0) {
    disk.free_bytes = static_cast<std::int64_t>(space.f_bavail * space.f_frsize);
    disk.total_bytes = static_cast<std::int64_t>(space.f_blocks * space.f_frsize);
    if (space.f_files > 0) disk.free_inodes = static_cast<std::int64_t>(space.f_favail);
    if (space.f_files > 0) disk.total_inodes = static_cast<std::int64_t>(space.f_files);
  }
  const Result<std::chrono::microseconds> took = TimeWrite(folder);
  if (took) disk.write_time = *took;
  if (!took) disk.written = std::unexpected(took.error());
  return disk;
}

/// Source: adjtimex(2).
bool IsClockSynchronised() {
  timex time{};
  return ::adjtimex(&time) != TIME_ERROR && (time.status & STA_UNSYNC) == 0;
}

std::optional<SysTime> CertificateEnd(const std::string& data) {
  const Result<std::string> pem = ReadFile(data + "/tls/server.pem");
  if (!pem) return std::nullopt;
  const Result<tls::Certificate> certificate = tls::ParseCertificate(*pem);
  std::tm end{};
  if (!certificate || ASN1_TIME_to_tm(X509_get0_notAfter(certificate->get()), &end) != 1) return std::nullopt;
  return SysTime(std::chrono::seconds(::timegm(&end)));
}

void LookAtLimits(const DoctorPlaces& places, service::DoctorFacts& facts) {
  // While a server runs, it uses the installation's cgroup, so what the server found is reported.
  if (!places.server_url.empty()) {
    facts.limits_lacking = places.limits_lacking;
    std::error_code error;
    facts.cgroup_version = fs::exists("/sys/fs/cgroup/cgroup.controllers", error) ? 2 : 1;
    return;
  }
  const engine::MachineLimits limits = engine::PrepareLimits(places.data_dir + "/attempts");
  facts.cgroup_version = limits.cgroup_version;
  facts.limits_lacking = limits.lacking;
  facts.logout = limits.logout;
  facts.logout_ends_jobs = limits.logout_ends_jobs;
}

void LookAtRuntimes(const std::string& data, service::DoctorFacts& facts) {
  const std::string environments = data + "/environments";
  const environment::AvailablePythons pythons = environment::ProbePythons(environments);
  for (const environment::Python& python : pythons.pythons) facts.pythons.push_back(python.version);
  facts.default_runtime = environment::kDefaultRuntimeVersion;
  const auto catalogue = environment::Catalogue::Load(environments);
  if (!catalogue) return;
  const control::v1::RuntimeList list =
      environment::ListRuntimes(environments, *catalogue, facts.default_runtime, pythons);
  for (const control::v1::Runtime& runtime : list.runtimes()) {
    const bool is_ready = runtime.state() == "built" || runtime.state().starts_with("can be built") ||
                          runtime.state() == "being built";
    if (is_ready) facts.runtimes_ready.push_back(runtime.version());
  }
}

/// Tries out what a server on this machine would need, and leaves nothing behind. Blocks for up to some
/// seconds. Call it in a separate process, before it has threads: the probes fork, and one moves the process
/// to another cgroup.
service::DoctorFacts LookAtMachine(const DoctorPlaces& places) {
  service::DoctorFacts facts;
  facts.is_root = ::geteuid() == 0;
  facts.now = SysTime(std::chrono::system_clock::now());
  facts.server_url = places.server_url;
  facts.data_directory = CheckDataDirectory(places.data_dir);
  if (places.server_url.empty()) facts.port = CheckPort(places.data_dir);
  // Probes that fork come first.
  if (!facts.is_root) facts.user_namespaces = engine::CheckUserNamespaces();
  facts.own_root = engine::CheckOwnRoot();
  facts.doors = engine::CheckConnectDoors();
  facts.isolated_networks = engine::CheckIsolatedNetworks();
  LookAtLimits(places, facts);
  node::Inventory inventory = node::FindDevices();
  facts.devices = std::move(inventory.details);
  facts.device_notes = std::move(inventory.notes);
  const auto containers = engine::FindContainerSupport({}, replica::v1::Manifest::HOST, false);
  if (containers) {
    facts.containers = containers->shown;
    facts.containers_lacking = containers->lacking;
  } else {
    facts.containers_lacking = containers.error().message;
  }
  LookAtRuntimes(places.data_dir, facts);
  facts.disk = LookAtDisk(places.data_dir);
  facts.clock_synchronised = IsClockSynchronised();
  facts.certificate_ends = CertificateEnd(places.data_dir);
  std::error_code error;
  facts.has_gcs_folder = fs::is_directory("/gcs", error);
  return facts;
}

}  // namespace

int ReportMachine(int argc, char** argv) {
  SetDiagnosticLevel(DiagnosticLevel::kError);  // the rows of the report are enough
  const auto argument = [&](int index) { return argc > index ? std::string(argv[index]) : std::string(); };
  const service::DoctorFacts facts =
      LookAtMachine({.data_dir = argument(1), .server_url = argument(2), .limits_lacking = argument(3)});
  const std::string text = wire::PrintJson(service::JudgeMachine(facts));
  return std::fputs(text.c_str(), stdout) >= 0 && std::fflush(stdout) == 0 ? 0 : 1;
}

}  // namespace trainyard::server
