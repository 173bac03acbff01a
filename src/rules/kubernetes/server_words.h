#pragma once

#include <string>
#include <string_view>

/// Messages of Kubernetes and of what it runs. Pure: any thread.
namespace trainyard::kubernetes {

/// The message as a part of a sentence of ours: one line, printable, at most some 400 bytes, with no period
/// at its end, and without the beginnings that say nothing ("rpc error: code = NotFound desc = ").
[[nodiscard]] std::string ServerWords(std::string_view message);

}  // namespace trainyard::kubernetes
