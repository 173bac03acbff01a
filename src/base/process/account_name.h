#pragma once

#include <sys/types.h>

#include <string>

namespace trainyard {

/// The name of an account; empty if the uid has none. Reads the machine's accounts; any thread.
[[nodiscard]] std::string AccountName(uid_t uid);

}  // namespace trainyard
