#include "stores/backup/backup_folder.h"

#include <gtest/gtest.h>

namespace trainyard::backup {
namespace {

TEST(TreatmentOf, KnowsWhatIsInADataDirectory) {
  struct Row {
    const char* entry;
    Treatment treatment;
  };
  for (const Row& row : {Row{"trainyard.db", Treatment::kDatabase},
                         Row{"access.db", Treatment::kDatabase},
                         Row{"engines.db", Treatment::kLeaveOut},
                         Row{"kubernetes.db", Treatment::kLeaveOut},
                         Row{"trainyard.db-wal", Treatment::kLeaveOut},
                         Row{"buckets", Treatment::kObjects},
                         Row{"uploads", Treatment::kCopy},
                         Row{"secrets", Treatment::kCopy},
                         Row{"tls", Treatment::kCopy},
                         Row{"admin-token", Treatment::kLeaveOut},
                         Row{"trainyard.db-journal", Treatment::kLeaveOut},
                         Row{"other.db", Treatment::kLeaveOut},
                         Row{"no-servers-own", Treatment::kLeaveOut},
                         Row{"environments", Treatment::kLeaveOut},
                         Row{"images", Treatment::kLeaveOut},
                         Row{"attempts", Treatment::kLeaveOut},
                         Row{"run", Treatment::kLeaveOut},
                         Row{"last-seen.json", Treatment::kCopy},
                         Row{"drain.json", Treatment::kLeaveOut},
                         Row{"backups", Treatment::kLeaveOut}})
    EXPECT_EQ(TreatmentOf(row.entry), row.treatment) << row.entry;
}

TEST(MayHold, ABackupIsBesideItsSource) {
  struct Row {
    const char* folder;
    bool may;
  };
  for (const Row& row :
       {Row{"/backup/a", true}, Row{"/srv/data2", true}, Row{"/srv/data", false}, Row{"/srv", false},
        Row{"/srv/data/buckets/b", false}, Row{"/srv/data/backups", false},
        Row{"/srv/data/backups/monday", true}, Row{"/srv/data/backups2/x", false}})
    EXPECT_EQ(MayHold(row.folder, "/srv/data"), row.may) << row.folder;
}

}  // namespace
}  // namespace trainyard::backup
