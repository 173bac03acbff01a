// All pages but the first one: one file, loaded when the first of them is looked at. esbuild makes a file of its own for
// what any two such files share, so many of them would be dozens of requests.
export { BucketPage } from "./BucketPage.tsx";
export { BucketsPage } from "./BucketsPage.tsx";
export { ChartsPage } from "./job/ChartsPage.tsx";
export { ComparePage } from "./ComparePage.tsx";
export { ConfigPage } from "./ConfigPage.tsx";
export { LogsPage } from "./job/LogsPage.tsx";
export { MachinePage } from "./MachinePage.tsx";
export { MetricsPage } from "./job/MetricsPage.tsx";
export { NewJobPage } from "./NewJobPage.tsx";
export { OverviewPage } from "./OverviewPage.tsx";
export { ShellPage } from "./job/ShellPage.tsx";
export { StartPage } from "./StartPage.tsx";
export { StudiesPage } from "./tuning/StudiesPage.tsx";
export { StudyPage } from "./tuning/StudyPage.tsx";
export { TrialPage } from "./tuning/TrialPage.tsx";
export { TrialsPage } from "./tuning/TrialsPage.tsx";
