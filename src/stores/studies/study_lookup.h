#pragma once

#include <string_view>

#include "base/result.h"
#include "stores/studies/study_store.h"

namespace trainyard::studies {

/// kNotFound with the given field.
[[nodiscard]] Result<StoredStudy> RequireStudy(StudyStore& store, const StudyName& name,
                                               std::string_view field);

struct FoundTrial {
  StoredStudy study;
  StoredTrial trial;
};
/// kNotFound with field "name", saying which of the two is missing.
[[nodiscard]] Result<FoundTrial> RequireTrial(StudyStore& store, const TrialName& name);

}  // namespace trainyard::studies
