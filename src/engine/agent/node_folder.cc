#include "engine/agent/node_folder.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <utility>

#include "base/async/diagnostics.h"
#include "base/async/file.h"
#include "base/tls/sha256.h"
#include "engine/local/attempt_files.h"
#include "engine/local/leftovers.h"

namespace trainyard::agent {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kHashDigits = 16;
constexpr int kLockTriesMax = 10;

/// Takes the lock of a directory that another agent may remove meanwhile: a lock whose file was removed is
/// useless.
Result<UniqueFd> TakeSlotLock(const std::string& slot) {
  for (int tried = 0; tried < kLockTriesMax; ++tried) {
    TY_RETURN_IF_ERROR(MakePrivateFolder(slot));
    Result<UniqueFd> file = OpenFile(slot + "/lock", O_RDWR | O_CREAT, 0600);
    if (!file && file.error().code == Code::kNotFound) continue;
    if (!file) return file;
    if (::flock(file->get(), LOCK_EX | LOCK_NB) != 0) {
      if (errno != EWOULDBLOCK) return std::unexpected(ErrnoError(errno, "lock " + slot));
      return std::unexpected(
          Error{Code::kAlreadyExists, "another agent of this slot lives on this node", ""});
    }
    struct stat held{};
    if (::fstat(file->get(), &held) == 0 && held.st_nlink > 0) return file;
  }
  return std::unexpected(Unavailable(slot + " is removed repeatedly by another process"));
}

/// DIR may be in a directory to which all accounts can write, such as /var/tmp.
Status CheckOwner(const std::string& dir) {
  TY_RETURN_IF_ERROR(MakeFolders(dir, 0700));
  struct stat found{};
  if (::lstat(dir.c_str(), &found) != 0) return std::unexpected(ErrnoError(errno, dir));
  if (S_ISDIR(found.st_mode) && found.st_uid == ::geteuid()) return {};
  return std::unexpected(FailedPrecondition(dir + " is no directory of this account"));
}

/// Whether no attempt lives there.
bool IsDead(const std::string& slot) {
  const auto attempts = engine::ListAttempts(slot + "/attempts");
  if (!attempts) return false;
  return std::ranges::all_of(*attempts, [&slot](const engine::AttemptRef& attempt) {
    return engine::IsOver({slot + "/attempts/" + attempt.id}).value_or(false);
  });
}

Status RemoveSlot(const std::string& slot) {
  TY_TRY(const auto attempts, engine::ListAttempts(slot + "/attempts"));
  for (const engine::AttemptRef& attempt : attempts)
    TY_RETURN_IF_ERROR(engine::RemoveAttempt({slot + "/attempts/" + attempt.id}));
  std::error_code error;
  fs::remove_all(slot, error);
  if (error) return std::unexpected(ErrnoError(error.value(), "remove " + slot));
  return {};
}

}  // namespace

std::string SlotFolderName(std::string_view ticket, int slot) {
  return tls::Sha256Hex(ticket).substr(0, kHashDigits) + "-" + std::to_string(slot);
}

Result<NodeFolder> NodeFolder::Open(const Slot& slot) {
  const std::string node = slot.dir + "/nodes/" + slot.node;
  const std::string own = node + "/slots/" + SlotFolderName(slot.ticket, slot.slot);
  TY_RETURN_IF_ERROR(CheckOwner(slot.dir));
  TY_RETURN_IF_ERROR(MakePrivateFolder(node));
  TY_TRY(UniqueFd lock, TakeSlotLock(own));
  for (const char* below : {"/attempts", "/run", "/front"})
    TY_RETURN_IF_ERROR(MakePrivateFolder(own + below));
  for (const char* shared : {"/environments", "/images"})
    TY_RETURN_IF_ERROR(MakePrivateFolder(node + shared));
  // Virtual environments contain the path at which they were made, so it must have no symbolic links.
  return NodeFolder(RealPath(node), RealPath(own), std::move(lock));
}

void NodeFolder::RemoveOldSlots() const {
  for (const fs::path& entry : PathsIn(node_ + "/slots")) {
    const std::string slot = entry;
    if (slot == slot_) continue;
    const Result<UniqueFd> lock = OpenFile(slot + "/lock", O_RDWR);
    if (!lock || ::flock(lock->get(), LOCK_EX | LOCK_NB) != 0 || !IsDead(slot)) continue;
    if (const Status removed = RemoveSlot(slot); !removed)
      Diagnose(DiagnosticLevel::kWarning,
               "cannot remove files of an earlier agent: " + removed.error().message);
  }
}

}  // namespace trainyard::agent
