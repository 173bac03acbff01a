#include <array>

#include "cli/admin/admin_commands.h"
#include "cli/admin/audit_command.h"
#include "cli/commands.h"
#include "cli/gcloud/common_flags.h"

namespace trainyard::cli {
namespace {

constexpr auto kAdminFlags = WithCommonFlags({kDataDirFlag});
constexpr auto kBackupFlags =
    WithCommonFlags({{"--copy-objects", "",
                      "Copy all objects. Otherwise those that the API stored are hard-linked where the "
                      "file system allows it: less disk, but a job that writes into such an object "
                      "through /gcs changes the backup's, too, and a restore says so."},
                     kDataDirFlag,
                     {"--with-bucket-dirs", "",
                      "Copy the buckets of serve --bucket-dir, too. They are restored as ordinary ones."}});
constexpr auto kRetentionFlags = WithCommonFlags(
    {{"--confirm", "", "Remove what is too old by the machine's clock, although it went forward."},
     kDataDirFlag});
constexpr auto kDrainFlags =
    WithCommonFlags({kDataDirFlag,
                     {"--off", "", "Start jobs again."},
                     {"--wait", "", "Return when nothing runs any more, and say what it waits for."}});

const Command kCommands[] = {
    {.spec = {.path = "admin audit",
              .summary = "Show who did what in a project, newest first.",
              .flags = kAuditFlags,
              .examples = "admin audit --since 7d --principal ann@example.com --denied"},
     .run = ShowAuditLog},
    {.spec = {.path = "admin backup",
              .summary = "Copy the data directory of a running server.",
              .positional = "DIR",
              .flags = kBackupFlags,
              .examples = "admin backup /backup/monday --data /var/lib/trainyard"},
     .run = BackUp},
    {.spec = {.path = "admin doctor",
              .summary = "Examine what works on this machine, and what it costs not to have it.",
              .flags = kAdminFlags,
              .examples = "admin doctor\nadmin doctor --data /var/lib/trainyard --format=json"},
     .run = ExamineMachine},
    {.spec = {.path = "admin drain",
              .summary = "Start no new jobs; those that run go on.",
              .flags = kDrainFlags,
              .examples = "admin drain --wait\nadmin drain --off"},
     .run = DrainServer},
    {.spec = {.path = "admin recover",
              .summary = "Take over what can be read of damaged databases, and go on without lost jobs.",
              .flags = kAdminFlags,
              .examples = "admin recover --data /var/lib/trainyard"},
     .run = RecoverDataDirectory},
    {.spec = {.path = "admin reload",
              .summary = "Make a running server read its files again.",
              .flags = kAdminFlags,
              .examples = "admin reload --data /var/lib/trainyard"},
     .run = ReloadServer},
    {.spec = {.path = "admin restore",
              .summary = "Make a data directory of a backup.",
              .positional = "DIR",
              .flags = kAdminFlags,
              .examples = "admin restore /backup/monday --data /var/lib/trainyard"},
     .run = RestoreFromBackup},
    {.spec = {.path = "admin retention",
              .summary = "Confirm that the machine's clock is right after a jump.",
              .flags = kRetentionFlags,
              .examples = "admin retention --confirm --data /var/lib/trainyard"},
     .run = ConfirmRetention},
    {.spec = {.path = "admin status",
              .summary = "Show whether a server drains, what runs, and whether it can take jobs.",
              .flags = kAdminFlags,
              .examples = "admin status\nadmin status --format=json"},
     .run = ShowAdminStatus},
};

}  // namespace

std::span<const Command> AdminCommands() { return kCommands; }

}  // namespace trainyard::cli
