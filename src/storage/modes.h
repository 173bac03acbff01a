#pragma once

#include <sys/types.h>

namespace trainyard::storage {

/// What the server puts into buckets is for every replica, whatever user its program is: an image's USER
/// reads it through /gcs. The mode is set, because the server's umask is for its other files. Other accounts
/// of the machine are kept out by the data directory's own mode.
inline constexpr mode_t kObjectMode = 0644;
inline constexpr mode_t kFolderMode = 0755;

}  // namespace trainyard::storage
