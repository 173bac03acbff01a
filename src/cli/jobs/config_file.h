#pragma once

#include <string>

#include "base/result.h"
#include "cli/gcloud/json_value.h"

/// The file of `--config`: its values in the API's form, and the places of mistakes. Pure: any thread.
namespace trainyard::cli {

/// The document of the file with the values as the API has them (wire::FitFields); null if it is empty.
/// kInvalidArgument: "config.yaml:3: trainingInput: REASON".
[[nodiscard]] Result<Json> FitConfig(const Json& document, const std::string& file);

/// Adds to a refusal of the server the line of the file with the value that it is about, and whether that
/// value looks like a placeholder that nobody replaced. Unchanged if the value is not from the file.
[[nodiscard]] std::string WithConfigLine(std::string refusal, const Json& document, const std::string& file);

}  // namespace trainyard::cli
