#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "rules/placement/submission.h"

/// Names of the objects of one installation in Kubernetes. Pure: any thread. A name is its reservation: a
/// second request to create it answers 409, so nothing exists twice. RFC 1123: lower case letters, digits and
/// hyphens.
namespace trainyard::kubernetes {

using placement::GangKey;
using placement::Submission;

/// The label that every object of ours has; its value is the installation.
inline constexpr std::string_view kInstallationLabel = "trainyard.dev/installation";
/// Its value is the submission: "17-1-2".
inline constexpr std::string_view kGangLabel = "trainyard.dev/gang";
/// Kueue's label for the queue of a pod.
inline constexpr std::string_view kQueueLabel = "kueue.x-k8s.io/queue-name";

/// "17-1-2".
[[nodiscard]] std::string GangLabel(const Submission& submission);
/// "ty-1f3a90c2-17-1-2": the Secret that owns the pods of the submission.
[[nodiscard]] std::string SecretName(std::string_view installation, const Submission& submission);
/// "ty-1f3a90c2-17-1-2-0": the pod of a slot.
[[nodiscard]] std::string PodName(std::string_view installation, const Submission& submission, int slot);

struct SlotName {
  Submission submission;
  int slot = 0;
  friend bool operator==(const SlotName&, const SlotName&) = default;
};
/// The slot of a pod of this installation; nullopt: the pod is not ours.
[[nodiscard]] std::optional<SlotName> ParsePodName(std::string_view installation, std::string_view name);
/// The submission of a Secret of this installation; nullopt: the Secret is not ours.
[[nodiscard]] std::optional<Submission> ParseSecretName(std::string_view installation, std::string_view name);

}  // namespace trainyard::kubernetes
