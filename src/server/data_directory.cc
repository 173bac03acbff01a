#include "server/data_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <boost/json.hpp>
#include <cerrno>
#include <charconv>
#include <filesystem>

#include "async/file.h"

namespace trainyard::server {

namespace {

constexpr std::size_t kSmallFileBytesMax = 64 * 1024;
constexpr std::array<const char*, 10> kFolders = {
    "run", "buckets", "uploads", "attempts",   "environments",
    "tls", "front",   "images",  "registries", "environments/runtimes.d"};

Status MakeFolders(const std::string& path) {
  std::error_code error;
  std::filesystem::create_directories(path, error);
  if (error) return std::unexpected(ErrnoError(error.value(), "create " + path));
  for (const char* folder : kFolders) {
    std::filesystem::create_directories(path + "/" + folder, error);
    if (error) return std::unexpected(ErrnoError(error.value(), "create " + path + "/" + folder));
  }
  // Attempt manifests, secrets, credentials and the socket are nobody else's business. Images have setuid
  // programs and device files, which are for nobody outside of a container.
  for (const char* folder : {"run", "attempts", "tls", "registries", "images"})
    ::chmod((path + "/" + folder).c_str(), 0700);
  return {};
}

}  // namespace

Result<DataDirectory> DataDirectory::Open(const std::string& path) {
  TY_RETURN_IF_ERROR(MakeFolders(path));
  std::string lock_path = path + "/run/lock";
  UniqueFd lock(::open(lock_path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  if (!lock) return std::unexpected(ErrnoError(errno, "open " + lock_path));
  if (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno != EWOULDBLOCK) return std::unexpected(ErrnoError(errno, "lock " + lock_path));
    Result<std::string> presence = ReadFile(path + "/run/server.json", kSmallFileBytesMax);
    return std::unexpected(FailedPrecondition("another server has the data directory " + path +
                                              (presence ? ": " + *presence : std::string())));
  }
  return DataDirectory(path, std::move(lock));
}

std::string DataDirectory::environments_dir() const {
  std::error_code error;
  std::filesystem::path resolved = std::filesystem::canonical(Path("environments"), error);
  return error ? Path("environments") : resolved.string();
}

Result<std::string> DataDirectory::Secret() const {
  std::string path = Path("run/secret");
  Result<std::string> kept = ReadFile(path, kSmallFileBytesMax);
  if (kept && !kept->empty()) return kept;
  std::string secret(32, '\0');
  if (::getrandom(secret.data(), secret.size(), 0) != static_cast<ssize_t>(secret.size())) {
    return std::unexpected(ErrnoError(errno, "getrandom"));
  }
  TY_RETURN_IF_ERROR(WriteFileAtomically(path, secret, 0600));
  return secret;
}

Status DataDirectory::Announce(const Presence& presence) const {
  boost::json::object json{
      {"url", presence.url},         {"tls_url", presence.tls_url}, {"replica_port", presence.replica_port},
      {"ca_file", presence.ca_file}, {"project", presence.project}, {"pid", presence.pid}};
  return WriteFileAtomically(Path("run/server.json"), boost::json::serialize(json) + "\n", 0600);
}

DataDirectory::FormerPorts DataDirectory::ReadFormerPorts() const {
  Result<std::string> text = ReadFile(Path("run/server.json"), kSmallFileBytesMax);
  if (!text) return {};
  boost::system::error_code error;
  boost::json::value json = boost::json::parse(*text, error);
  if (error || !json.is_object()) return {};
  FormerPorts ports;
  if (const boost::json::value* url = json.as_object().if_contains("url");
      url != nullptr && url->is_string()) {
    std::string_view address = url->as_string();
    std::string_view digits = address.substr(address.rfind(':') + 1);
    std::from_chars(digits.data(), digits.data() + digits.size(), ports.plain);
  }
  if (const boost::json::value* port = json.as_object().if_contains("replica_port"); port != nullptr)
    ports.replicas = port->to_number<std::uint16_t>(error);
  return ports;
}

}  // namespace trainyard::server
