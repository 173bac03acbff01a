#pragma once

#include "api/route.h"

namespace trainyard::studies {
class StudyService;
}  // namespace trainyard::studies

/// Studies and trials of Vertex AI: those of ml v1, in the form of Vertex AI. A study's display name is its
/// id in ml v1, if it can be one, and its number never changes. Loop thread only. Source: spec vertex.md.
namespace trainyard::api::vertex_studies {

using studies::StudyService;

Waits<StudyService> CreateStudy, GetStudy, ListStudies, LookupStudy, DeleteStudy;
Waits<StudyService> CreateTrial, GetTrial, ListTrials, DeleteTrial, AddMeasurement, CompleteTrial, StopTrial,
    ListOptimalTrials;

// The answer is an operation, which is done unless that takes some seconds.
Waits<StudyService> SuggestTrials, CheckEarlyStopping;

/// An operation of a study, by any of its names. No other operation is kept: each one was done when the
/// server answered it. kNotFound.
Waits<StudyService> GetOperation;

}  // namespace trainyard::api::vertex_studies
