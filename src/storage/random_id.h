#pragma once

#include <string>

namespace trainyard::storage {

/// 32 hexadecimal digits that nobody can guess (128 bits from the kernel). Any thread.
[[nodiscard]] std::string RandomId();

}  // namespace trainyard::storage
