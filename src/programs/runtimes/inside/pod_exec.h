#pragma once

#include <cstddef>

#include "programs/runtimes/inside/pod_frames.h"

/// The part of pod_starter.cc that runs in the child, between fork and exec.
namespace trainyard::replica::pod {

inline constexpr int kSignalMax = 64;
/// The most bytes of the child's report.
inline constexpr std::size_t kReportMax = sizeof(StarterEvent) + kBeginningMax;

/// Sets the variables of a request whose program runs, so that another program of its container gets them.
/// `strings` are that request's.
void SetVariablesOf(const StartRequest& request, char* strings);
/// Becomes the program of the request. `strings` are the request's, and are changed. If that fails, writes a
/// report to `report`, which is close-on-exec, and exits: a StarterEvent of kind kFailed and the beginning of
/// the program's file.
[[noreturn]] void RunProgram(const StartRequest& request, char* strings,
                             const int (&descriptors)[kDescriptors], int report);

}  // namespace trainyard::replica::pod
