#include "replica/supervisor/work_keeper.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/async/beneath.h"
#include "base/async/file.h"
#include "base/result.h"
#include "base/text/number.h"
#include "base/text/percent.h"
#include "base/wire/error_body.h"
#include "base/wire/resource_name.h"
#include "net/http/client.h"
#include "replica/supervisor/preparation.h"
#include "rules/cluster/role.h"
#include "rules/objects/kept_files.h"
#include "rules/placement/quota.h"

namespace trainyard::replica {

namespace {

using objects::WorkFile;

/// The list that the program's starting module leaves in HOME (src/cli/run/wheel.cc).
constexpr const char* kUnpackedList = ".trainyard_unpacked";
constexpr std::size_t kListBytesMax = std::size_t{4} << 20;
/// What is beyond these limits of one working directory is not looked at.
constexpr std::size_t kEntriesMax = 200'000;
constexpr std::size_t kDepthMax = 64;

/// The pauses while there is no server do not count.
constexpr std::chrono::minutes kTimeMax{10};
constexpr std::chrono::milliseconds kRetryPause{500};
constexpr const char* kLate = "it took too long";

/// Lists the files of a tree, without following links.
class WorkWalk {
 public:
  void Look(int folder, const std::string& above, std::size_t depth) {
    const auto names = NamesIn(folder);
    if (!names) return;
    for (const std::string& name : *names) {
      if (entries_++ >= kEntriesMax) return;
      LookAt(folder, name, above + name, depth);
    }
  }
  std::vector<WorkFile> files;
  [[nodiscard]] bool is_cut() const noexcept { return entries_ > kEntriesMax; }

 private:
  void LookAt(int folder, const std::string& name, std::string path, std::size_t depth) {
    struct stat found{};
    if (fstatat(folder, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) return;
    if (S_ISDIR(found.st_mode)) {
      if (objects::IsToolFolder(name)) return;
      const auto below = OpenFolderBeneath(folder, std::vector{name});
      if (below && depth < kDepthMax) return Look(below->get(), path + "/", depth + 1);
      files.push_back({.path = std::move(path), .kind = WorkFile::Kind::kUnreadable});
      return;
    }
    constexpr std::int64_t kSecond = 1'000'000'000;
    WorkFile file{.path = std::move(path), .kind = KindOf(found.st_mode)};
    if (file.kind == WorkFile::Kind::kFile)
      file.stamp = {.bytes = static_cast<std::uint64_t>(found.st_size),
                    .modified_ns = found.st_mtim.tv_sec * kSecond + found.st_mtim.tv_nsec};
    files.push_back(std::move(file));
  }
  static WorkFile::Kind KindOf(mode_t mode) {
    if (S_ISREG(mode)) return WorkFile::Kind::kFile;
    return S_ISLNK(mode) ? WorkFile::Kind::kLink : WorkFile::Kind::kSpecial;
  }

  std::size_t entries_ = 0;
};

Result<UniqueFd> OpenWorkFile(int work, std::string_view path) {
  std::vector<std::string> folders;
  for (std::size_t slash = path.find('/'); slash != std::string_view::npos; slash = path.find('/')) {
    folders.emplace_back(path.substr(0, slash));
    path.remove_prefix(slash + 1);
  }
  TY_TRY(const UniqueFd folder, OpenFolderBeneath(work, folders));
  return OpenFileBeneath(folder.get(), std::string(path));
}

/// Empty if there is none: a program that was not sent by `trainyard run`, or that removed it.
std::string ReadUnpackedList(const AttemptDir& dir) {
  const auto home = OpenFile(dir.Home(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  if (!home) return {};
  const auto list = OpenFileBeneath(home->get(), kUnpackedList);
  if (!list) return {};
  return ReadFile("/proc/self/fd/" + std::to_string(list->get()), kListBytesMax).value_or("");
}

using Time = WorkKeeper::Time;

/// Why a file was not sent.
struct Failure {
  enum class Kind {
    kNoServer,  ///< worth trying again, however long it is away
    kBusy,      ///< worth trying again
    kThisFile,  ///< others can be sent
    kRefused,   ///< for all files: no space, no right
  };
  Kind kind;
  std::string why;
};

/// Sends files into one folder of a bucket.
class Uploader {
 public:
  Uploader(const v1::Manifest& manifest, wire::ObjectUri folder)
      : client_({.transport = http::Endpoint::Transport::kUnix,
                 .host = "localhost",
                 .socket_path = manifest.places().replica_socket()}),
        folder_(std::move(folder)) {}

  /// Nothing: the server has the file.
  std::optional<Failure> Send(int file, std::uint64_t bytes, const std::string& path, Time end) {
    http::ClientRequest request{
        .method = http::Method::kPost,
        .target = "/upload/storage/v1/b/" + text::PercentEncode(folder_.bucket) +
                  "/o?uploadType=media&name=" + text::PercentEncode(folder_.object + path),
        .body =
            http::UploadBody{.descriptor = file, .offset = 0, .length = bytes, .progress = {}, .end = end}};
    const auto response = client_.Send(std::move(request));
    if (!response) return Unsent(file, bytes, response.error());
    constexpr int kOk = 200;
    constexpr int kFull = 507;
    if (response->status == kOk) return std::nullopt;
    Error error = wire::ParseErrorBody(response->status, response->body);
    const bool is_busy = error.code == Code::kUnavailable && response->status != kFull;
    const bool is_name = error.code == Code::kInvalidArgument;
    return Failure{.kind = is_busy   ? Failure::Kind::kBusy
                           : is_name ? Failure::Kind::kThisFile
                                     : Failure::Kind::kRefused,
                   .why = std::move(error.message)};
  }

 private:
  /// Why there is no answer: there is no server, or the file cannot be read (any more) as it was listed.
  static Failure Unsent(int file, std::uint64_t bytes, const Error& error) {
    struct stat now{};
    if (fstat(file, &now) == 0 && static_cast<std::uint64_t>(now.st_size) < bytes)
      return {.kind = Failure::Kind::kThisFile, .why = "became shorter while it was sent"};
    return {.kind = MeansNoServer(error.code) ? Failure::Kind::kNoServer : Failure::Kind::kThisFile,
            .why = error.message};
  }

  http::Client client_;
  wire::ObjectUri folder_;
};

/// Uploads the chosen files. After the first one that the server does not take (no space, no right) or when
/// the time is over, the rest is not tried: `left` gets them all with the reason.
class Keeping {
 public:
  Keeping(int work, Uploader& uploader) : work_(work), uploader_(uploader) {}

  void Keep(const WorkFile& file, std::vector<objects::LeftFile>& left) {
    if (refused_.empty() && is_late()) refused_ = kLate;
    if (!refused_.empty()) return left.push_back({file.path, refused_});
    const auto opened = OpenWorkFile(work_, file.path);
    if (!opened) return left.push_back({file.path, "cannot be read"});
    if (auto failed = Upload(opened->get(), file)) {
      if (failed->kind != Failure::Kind::kThisFile) refused_ = failed->why;
      return left.push_back({file.path, std::move(failed->why)});
    }
    ++files;
    bytes += file.stamp.bytes;
  }
  std::size_t files = 0;
  std::uint64_t bytes = 0;

 private:
  std::optional<Failure> Upload(int opened, const WorkFile& file) {
    for (;;) {
      auto failed = uploader_.Send(opened, file.stamp.bytes, file.path, end_);
      const bool is_away = failed && failed->kind == Failure::Kind::kNoServer;
      if (!is_away && !(failed && failed->kind == Failure::Kind::kBusy)) return failed;
      if (is_late()) return Failure{.kind = Failure::Kind::kRefused, .why = kLate};
      const Time begin = std::chrono::steady_clock::now();
      std::this_thread::sleep_for(kRetryPause);
      if (is_away) end_ += std::chrono::steady_clock::now() - begin;
    }
  }
  [[nodiscard]] bool is_late() const { return std::chrono::steady_clock::now() > end_; }

  int work_;
  Uploader& uploader_;
  Time end_ = std::chrono::steady_clock::now() + kTimeMax;
  std::string refused_;  ///< why nothing more is sent; empty: it is
};

/// The place for users, "gs://bucket/folder/workdir/", as a bucket and the beginning of names.
Result<wire::ObjectUri> WorkFolder(const v1::Manifest& manifest) {
  return wire::ObjectUri::Parse(manifest.work_folder() + "/workdir/");
}

/// Whether there is a folder to keep it in.
bool KeepsWork(const v1::Manifest& manifest) {
  return manifest.replica().type() == v1::MASTER && !manifest.program().has_container() &&
         !manifest.work_folder().empty();
}

Status KeepWork(const AttemptDir& dir, const v1::Manifest& manifest, BackgroundReporter& reporter) {
  TY_TRY(const wire::ObjectUri folder, WorkFolder(manifest));
  TY_TRY(const UniqueFd work, OpenFile(dir.Work(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW));
  WorkWalk walk;
  walk.Look(work.get(), "", 0);
  const objects::UnpackedFiles unpacked = objects::ReadUnpackedFiles(ReadUnpackedList(dir));
  objects::KeptFiles chosen = objects::ChooseKeptFiles(std::move(walk.files), unpacked, {});
  Uploader uploader(manifest, folder);
  Keeping keeping(work.get(), uploader);
  for (const WorkFile& file : chosen.kept) keeping.Keep(file, chosen.left);
  if (keeping.files > 0)
    reporter.Line(false, "Kept " + text::Counted(static_cast<std::int64_t>(keeping.files), "file") +
                             " of the working directory (" +
                             placement::BytesText(static_cast<std::int64_t>(keeping.bytes)) + ") in " +
                             folder.ToString());
  if (!chosen.left.empty())
    reporter.Line(true, "Not kept of the working directory: " + objects::NameLeftFiles(chosen.left) + ".");
  if (walk.is_cut())
    reporter.Line(true, "The working directory has more than " + std::to_string(kEntriesMax) +
                            " files and directories. The others are not kept.");
  return {};
}

}  // namespace

void WorkKeeper::Start(const AttemptDir& dir, const v1::Manifest& manifest, int lock_fd, Time now) {
  if (!KeepsWork(manifest)) return;
  end_ = is_stopped_ ? now + stop_grace_ : Time::max();
  auto started = BackgroundWork::Start(
      [&dir, &manifest](BackgroundReporter& reporter) { return KeepWork(dir, manifest, reporter); }, manifest,
      lock_fd, *this, "its upload");
  if (!started) return OnLine(true, "The working directory is not kept: " + started.error().message + ".");
  work_.emplace(std::move(*started));
}

void WorkKeeper::Cut(std::string_view why) {
  if (!work_) return;
  work_.reset();
  OnLine(true, "The working directory is not kept completely: " + std::string(why) + ".");
}

void WorkKeeper::OnStop(bool kill, Time now) {
  is_stopped_ = true;
  if (work_) end_ = std::min(end_, kill ? now : now + stop_grace_);
}

void WorkKeeper::Step(Time now, bool shutting_down) {
  if (shutting_down) Cut("the system is shutting down");
  if (now >= end_) Cut("the job was stopped");
}

void WorkKeeper::OnReadable() {
  const std::optional<Status> outcome = work_->OnReadable();
  if (!outcome) return;
  work_.reset();
  if (*outcome) return;
  OnLine(true, "The working directory is not kept completely: " + outcome->error().message + ".");
}

void WorkKeeper::OnLine(bool is_error, std::string_view line) {
  using logging::v2::LogEntry;
  log_.Say(is_error ? LogEntry::WARNING : LogEntry::INFO, log_.mask().Apply(line));
}

}  // namespace trainyard::replica
