#include "engine/local/google_front_files.h"

#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <optional>

#include "async/diagnostics.h"
#include "async/file.h"
#include "async/guarded.h"
#include "engine/local/machine_checks.h"
#include "front/boto_file.h"
#include "front/ca_bundle.h"
#include "front/java_trust_store.h"
#include "runtimes/google_channels.h"

namespace trainyard::engine {

namespace {

/// What could not be written for want of room; the last call's.
Guarded<std::optional<GoogleFrontFiles>> lacking;

/// A file that has the right contents stays as it is, so that a start on a full disk needs no room.
Status Provide(const std::filesystem::path& path, const std::string& contents) {
  if (const Result<std::string> there = ReadFile(path); there && *there == contents) return {};
  return ReplaceFile(path, contents);
}

Status WriteFiles(const GoogleFrontFiles& files) {
  const std::filesystem::path folder = files.folder;
  TY_RETURN_IF_ERROR(front::MakeCaBundle(replica::SystemCaBundles(), files.authority, files.bundle));
  TY_RETURN_IF_ERROR(front::MakeCaBundle({}, files.authority, folder / replica::kOwnAuthority));
  TY_RETURN_IF_ERROR(Provide(folder / replica::kCurlFile, "cacert = \"" + files.bundle + "\"\n"));
  TY_TRY(const std::string authorities, ReadFile(files.bundle));
  TY_TRY(const std::string java, front::JavaTrustStore(authorities));
  TY_RETURN_IF_ERROR(Provide(folder / replica::kJavaFile, java));
  front::BotoSettings boto = {.ca_bundle = files.bundle, .project = files.project};
  TY_RETURN_IF_ERROR(Provide(folder / replica::kUsersBotoFile, front::BotoFile(boto)));
  boto.state_dir = "/tmp/.gsutil";  // of the replica's own
  return Provide(folder / replica::kBotoFile, front::BotoFile(boto));
}

}  // namespace

Status WriteGoogleFrontFiles(const GoogleFrontFiles& files) {
  lacking.With([](auto& value) { value.reset(); });
  if (const Result<std::string> authority = ReadFile(files.authority); !authority)
    return std::unexpected(authority.error());
  const Status written = WriteFiles(files);
  if (written) return {};
  Diagnose(DiagnosticLevel::kWarning,
           "what replicas need to reach the buckets under Google's names cannot be "
           "written: " +
               written.error().message +
               "; no replica starts until it can, which is tried before each start");
  lacking.With([&files](auto& value) { value = files; });
  return {};
}

Status CompleteGoogleFrontFiles() {
  const std::optional<GoogleFrontFiles> files = lacking.With([](const auto& value) { return value; });
  if (!files) return {};
  if (const Status written = WriteFiles(*files); !written)
    return std::unexpected(
        Unavailable("what replicas need to reach the buckets under Google's names cannot be "
                    "written: " +
                    written.error().message));
  lacking.With([](auto& value) { value.reset(); });
  return {};
}

Status EnsureGcsFolder() {
  const char* folder = replica::kGcsFolder;
  const bool made = ::mkdir(folder, 0755) == 0;
  if (!made && errno != EEXIST) {
    const Error refused = ErrnoError(errno, "mkdir " + std::string(folder));
    const Status own = CheckOwnRoot();
    if (own) return {};
    return std::unexpected(Error{refused.code, refused.message + ", and " + own.error().message, {}});
  }
  if (made) ::chmod(folder, 0755);  // whatever our umask is: it is for all servers of the machine
  std::error_code error;
  const bool empty = std::filesystem::is_empty(folder, error);
  if (error == std::errc::permission_denied) return {};  // what is in it is no use of ours, and nobody's here
  if (error) return std::unexpected(ErrnoError(error.value(), "look into " + std::string(folder)));
  if (!empty) return std::unexpected(FailedPrecondition(std::string(folder) + " has something in it"));
  return {};
}

}  // namespace trainyard::engine
