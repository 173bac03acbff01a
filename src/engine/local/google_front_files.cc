#include "engine/local/google_front_files.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/async/guarded.h"
#include "base/packing/archive_writer.h"
#include "engine/local/machine.h"
#include "net/front/boto_file.h"
#include "net/front/ca_bundle.h"
#include "net/front/front_address.h"
#include "programs/runtimes/google_channels.h"

namespace trainyard::engine {

namespace {

/// Chooses the front's address and listens there.
Result<std::string> TakeAddress(const ListenOn& listen, const std::string& file, std::uint16_t port,
                                http::ListeningSocket& tls) {
  return front::TakeFrontAddress(file, [&](const std::string& address) -> Status {
    TY_TRY(tls, listen(address, port));
    return {};
  });
}

/// Binds the ports that the clients of the previous process know, or new ones if another program has these on
/// every address.
Status BindBehindDoors(const FrontPlace& place, const ListenOn& listen, front::FrontPorts& ports,
                       FrontSockets& sockets) {
  Result<std::string> address = TakeAddress(listen, place.address_file, ports.tls, sockets.tls);
  if (!address && address.error().code == Code::kAlreadyExists) {
    ports = front::RandomFrontPorts();
    TY_RETURN_IF_ERROR(front::KeepFrontPorts(place.ports_file, ports));
    address = TakeAddress(listen, place.address_file, ports.tls, sockets.tls);
  }
  TY_TRY(sockets.address, std::move(address));
  return {};
}

/// The files of the last call, if some could not be written.
Guarded<std::optional<GoogleFrontFiles>> lacking;

/// Writes the file unless it already has the right contents, so that a start on a full disk needs no space.
Status Provide(const std::filesystem::path& path, const std::string& contents) {
  if (const Result<std::string> there = ReadFile(path); there && *there == contents) return {};
  return ReplaceFile(path, contents);
}

/// Text that identifies the file and its last change; empty: there is no file.
std::string StampOf(const std::filesystem::path& path) {
  struct stat file{};
  if (::stat(path.c_str(), &file) != 0) return {};
  return std::to_string(file.st_ino) + " " + std::to_string(file.st_size) + " " +
         std::to_string(file.st_mtim.tv_sec) + "." + std::to_string(file.st_mtim.tv_nsec) + "\n";
}

constexpr std::string_view kStoreBegin = "\xFE\xED\xFE\xED";
constexpr std::string_view kArchiveBegin = "PK\x03\x04";

/// After a loss of power a file may be empty, or all zeros.
bool BeginsWith(const std::filesystem::path& path, std::string_view expected) {
  std::array<char, 4> begin{};
  const Result<UniqueFd> file = OpenFile(path, O_RDONLY);
  return file && ::read(file->get(), begin.data(), begin.size()) == 4 &&
         std::string_view(begin.data(), begin.size()) == expected;
}

/// The store of `GoogleNetHttpTransport.newTrustedTransport()` in an archive: the client reads it as a
/// resource, by one name or the other, and Java looks for resources in its boot class path first. Since Java
/// 9 both kinds of store are read by either name.
Result<std::string> GoogleClientArchive(std::string_view authorities) {
  TY_TRY(const std::string store, front::JavaTrustStore(authorities, front::kGoogleClientPassword));
  const auto writer = packing::MakeZipWriter();
  std::string archive;
  for (const char* name : {"google.jks", "google.p12"}) {
    packing::ArchiveEntry entry{.name = std::string("com/google/api/client/googleapis/") + name,
                                .bytes = static_cast<std::int64_t>(store.size())};
    TY_RETURN_IF_ERROR(writer->Begin(entry, archive));
    TY_RETURN_IF_ERROR(writer->Add(store, archive));
    TY_RETURN_IF_ERROR(writer->End(archive));
  }
  for (bool more = true; more;) {
    TY_TRY(more, writer->Finish(archive));
  }
  return archive;
}

/// Makes Java's trust stores from the bundle. That takes longer than everything else here, so it is repeated
/// only for another bundle.
Status ProvideTrustStores(const std::filesystem::path& bundle, const std::filesystem::path& folder) {
  const std::filesystem::path store = folder / replica::kJavaFile;
  const std::filesystem::path archive = folder / replica::kJavaArchive;
  const std::filesystem::path note = store.string() + ".made";
  const auto stamps = [&] { return StampOf(bundle) + StampOf(store) + StampOf(archive); };
  const Result<std::string> noted = ReadFile(note);
  if (noted && *noted == stamps() && BeginsWith(store, kStoreBegin) && BeginsWith(archive, kArchiveBegin))
    return {};
  TY_TRY(const std::string authorities, ReadFile(bundle));
  TY_TRY(const std::string made, front::JavaTrustStore(authorities, front::kJavaPassword));
  TY_RETURN_IF_ERROR(Provide(store, made));
  TY_TRY(const std::string packed, GoogleClientArchive(authorities));
  TY_RETURN_IF_ERROR(Provide(archive, packed));
  // If the note cannot be written, the next server makes the stores again.
  static_cast<void>(ReplaceFile(note, stamps()));
  return {};
}

/// Makes the files readable for all, since replicas read them under other accounts. (Files with the right
/// contents are not written again, whatever their permissions.)
void LetAllRead(const std::filesystem::path& folder) {
  constexpr mode_t kPermissions = 07777;
  constexpr mode_t kAllRead = 0644;
  for (const std::filesystem::path& entry : PathsIn(folder)) {
    struct stat file{};
    const char* path = entry.c_str();
    if (::lstat(path, &file) == 0 && S_ISREG(file.st_mode) && (file.st_mode & kPermissions) != kAllRead)
      ::chmod(path, kAllRead);
  }
}

Status WriteFiles(const GoogleFrontFiles& files) {
  const std::filesystem::path folder = files.folder;
  TY_RETURN_IF_ERROR(front::MakeCaBundle(replica::SystemCaBundles(), files.authority, files.bundle));
  TY_RETURN_IF_ERROR(front::MakeCaBundle({}, files.authority, folder / replica::kOwnAuthority));
  TY_RETURN_IF_ERROR(Provide(folder / replica::kCurlFile, "cacert = \"" + files.bundle + "\"\n"));
  TY_RETURN_IF_ERROR(ProvideTrustStores(files.bundle, folder));
  front::BotoSettings boto = {.ca_bundle = files.bundle, .project = files.project};
  TY_RETURN_IF_ERROR(Provide(folder / replica::kUsersBotoFile, front::BotoFile(boto)));
  boto.state_dir = "/tmp/.gsutil";  // private to the replica
  TY_RETURN_IF_ERROR(Provide(folder / replica::kBotoFile, front::BotoFile(boto)));
  LetAllRead(folder);
  return {};
}

}  // namespace

Result<FrontSockets> BindFront(const FrontPlace& place, const ListenOn& listen,
                               const std::function<Status()>& check_doors) {
  FrontSockets sockets;
  TY_TRY(front::FrontPorts ports, front::TakeFrontPorts(place.ports_file));
  if (Result<std::string> address =
          TakeAddress(listen, place.address_file, FrontSockets::kTlsPort, sockets.tls)) {
    sockets.address = *std::move(address);
  } else {
    TY_RETURN_IF_ERROR(BindBehindDoors(place, listen, ports, sockets));
  }
  Result<http::ListeningSocket> plain = listen(sockets.address, FrontSockets::kPlainPort);
  const Status doors = plain && sockets.tls.port == FrontSockets::kTlsPort ? Status() : check_doors();
  if (!doors && sockets.tls.port != FrontSockets::kTlsPort) return std::unexpected(doors.error());
  if (!plain && doors) plain = listen(sockets.address, ports.plain);
  if (plain) {
    sockets.plain = *std::move(plain);
  } else {
    Diagnose(DiagnosticLevel::kWarning, "there is no metadata server under Google's names at " +
                                            sockets.address + ": " + plain.error().message +
                                            "; a request there gets the token that all replicas share");
  }
  return sockets;
}

void DescribeFront(const FrontSockets& sockets, replica::v1::GoogleFront& told) {
  told.set_address(sockets.address);
  if (sockets.tls.port != FrontSockets::kTlsPort) told.set_tls_port(sockets.tls.port);
  if (sockets.plain && sockets.plain->port != FrontSockets::kPlainPort)
    told.set_plain_port(sockets.plain->port);
}

Status WriteGoogleFrontFiles(const GoogleFrontFiles& files) {
  lacking.With([](auto& value) { value.reset(); });
  if (const Result<std::string> authority = ReadFile(files.authority); !authority)
    return std::unexpected(authority.error());
  const Status written = WriteFiles(files);
  if (written) return {};
  Diagnose(DiagnosticLevel::kWarning,
           "cannot write the files that replicas need to reach the buckets under Google's host names: " +
               written.error().message +
               "; no replica starts until this succeeds, which is tried again before each start");
  lacking.With([&files](auto& value) { value = files; });
  return {};
}

Status CompleteGoogleFrontFiles() {
  const std::optional<GoogleFrontFiles> files = lacking.With([](const auto& value) { return value; });
  if (!files) return {};
  if (const Status written = WriteFiles(*files); !written)
    return std::unexpected(Unavailable(
        "cannot write the files that replicas need to reach the buckets under Google's host names: " +
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
  if (made) ::chmod(folder, 0755);  // whatever our umask is, since all servers of the machine use it
  std::error_code error;
  const bool empty = std::filesystem::is_empty(folder, error);
  if (error == std::errc::permission_denied) return {};  // we cannot read it, and neither can replicas
  if (error) return std::unexpected(ErrnoError(error.value(), "look into " + std::string(folder)));
  if (!empty) return std::unexpected(FailedPrecondition(std::string(folder) + " has something in it"));
  return {};
}

}  // namespace trainyard::engine
