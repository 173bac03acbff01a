#pragma once

#include <string_view>

#include "rules/diagnosis/observation.h"

/// Public buckets of Google's, which tutorials, samples and libraries name. Pure: any thread.
namespace trainyard::diagnosis {

/// The first of these buckets that the text names as a whole word; empty: it names none. A view into the
/// text. Source: Google's public tutorials, samples and dataset pages.
[[nodiscard]] std::string_view GoogleBucketIn(std::string_view text);

/// The one that the program's exceptions name, or if there were none, its last lines.
[[nodiscard]] std::string_view GoogleBucketIn(const Symptoms& seen);

}  // namespace trainyard::diagnosis
