#include "stores/studies/study_lookup.h"

#include <utility>

namespace trainyard::studies {

Result<StoredStudy> RequireStudy(StudyStore& store, const StudyName& name, std::string_view field) {
  TY_TRY(std::optional<StoredStudy> study, store.FindStudy(name));
  if (!study)
    return std::unexpected(Error{Code::kNotFound, "The study cannot be found.", std::string(field)});
  return *std::move(study);
}

Result<FoundTrial> RequireTrial(StudyStore& store, const TrialName& name) {
  TY_TRY(StoredStudy study, RequireStudy(store, name.study, "name"));
  TY_TRY(std::optional<StoredTrial> trial, store.FindTrial(study.uid, name.id));
  if (!trial) return std::unexpected(Error{Code::kNotFound, "The trial cannot be found.", "name"});
  return FoundTrial{.study = std::move(study), .trial = *std::move(trial)};
}

}  // namespace trainyard::studies
