// Commands that a newcomer copies. Pure.
import { word } from "./shell.ts";

export interface Step {
  readonly title: string;
  readonly text: string;
  readonly hint: string;
}

/** Where the commands lead. */
export interface StepTarget {
  readonly origin: string;
  readonly project: string;
  /** The server asks who one is. */
  readonly authentication: boolean;
}

export function firstSteps({ origin, project, authentication }: StepTarget): Step[] {
  const env = 'eval "$(trainyard env)"';
  return [
    {
      title: "Point a shell at this server",
      text: authentication ? `trainyard auth login --server ${word(origin)} --token-file -\n${env}` : env,
      hint: (authentication ? "Paste your token. " : "") + "trainyard, gcloud and Google's client libraries in this shell now talk to it.",
    },
    {
      title: "Run a program",
      text: `echo 'print("hello from a job")' > hello.py\ntrainyard run --project ${word(project)} hello.py`,
      hint: "The file and what is beside it become a job; its log is shown until it ends.",
    },
    {
      title: "Or as gcloud does",
      text: `mkdir -p trainer && touch trainer/__init__.py
echo 'print("hello from a package")' > trainer/task.py
gcloud ai-platform jobs submit training "hello_$(date +%s)" --project=${word(project)} \\
    --region=us-central1 --package-path=trainer --module-name=trainer.task \\
    --staging-bucket=gs://my-packages --stream-logs`,
      hint: "Scripts for AI Platform Training run unchanged. Without gcloud: write trainyard instead of gcloud ai-platform.",
    },
  ];
}
