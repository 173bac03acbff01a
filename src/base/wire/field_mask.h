#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace trainyard::wire {

/// A FieldMask's text, "labels,etag": names of top-level fields in either case, separated by commas and
/// blanks; repeated names count once; an empty text is an empty mask. Pure: any thread.
///
/// @param allowed  the names that the method can update, in snake_case.
/// @return the names, in snake_case and in order. kInvalidArgument with field "update_mask" for any other
/// name, "*" included: "Only labels and etag can be updated, not 'x'".
[[nodiscard]] Result<std::vector<std::string>> ParseFieldMask(std::string_view text,
                                                              std::span<const std::string_view> allowed);

}  // namespace trainyard::wire
