#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "rules/validation/validate.h"
#include "trainyard/control/v1/record.pb.h"
#include "trainyard/ml/v1/ml.pb.h"

/// The requests of tests/golden/api, and what becomes of them: parse, Validate, MakeRecord, print, with a
/// fixed clock.
namespace trainyard::golden {

/// What jobs.create makes of a request: the record, or the error that is answered.
[[nodiscard]] Result<control::v1::JobRecord> Create(const std::string& request);

/// The body of the answer, word for word.
[[nodiscard]] std::string ResponseText(const Result<control::v1::JobRecord>& made);

/// The replicas a line each, what they cost, and the notes for the job's log.
[[nodiscard]] std::string ExpansionText(const control::v1::JobRecord& record);

/// An installation that can do everything, with runtime versions of 2024.
[[nodiscard]] jobs::ValidationContext Everything();

/// Names of the folders below tests/golden/api/GROUP, sorted.
[[nodiscard]] std::vector<std::string> Names(const std::string& group);
/// tests/golden/api/GROUP/NAME/FILE; empty if it is not there.
[[nodiscard]] std::string ReadGolden(const std::string& group, const std::string& name,
                                     const std::string& file);

/// Expects the file to have the text, or writes it when TRAINYARD_UPDATE_GOLDEN is set.
void ExpectGolden(const std::string& group, const std::string& name, const std::string& file,
                  const std::string& text);

}  // namespace trainyard::golden
