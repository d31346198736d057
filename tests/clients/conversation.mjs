// One task from start to score, told as JSON: what a client of any SDK sees.

const NUMBERS = [4, 8, 15, 16, 23, 42];

const words = (result) => result.content.filter((block) => block.type === "text").map((block) => block.text).join("\n");

export async function converse(client) {
  const call = (name, args = {}) => client.callTool({ name, arguments: args });
  const { tools } = await client.listTools();
  const opening = await call("start_task", { task_id: "survey-1" });
  const parallel = await Promise.all([
    call("math__median", { numbers: NUMBERS }),
    call("math__mean", { numbers: NUMBERS }),
  ]);
  const difference = await call("math__subtract", { minuend: 18, subtrahend: 15.5 });
  const submitted = await call("submit", { answer: "They differ by 2.5." });
  const card = await call("score");
  const refused = await call("math__summ").then(
    () => "",
    (error) => error.message,
  );
  await client.close();
  console.log(
    JSON.stringify({
      tools: tools.map((tool) => tool.name),
      opening: words(opening),
      images: opening.content.filter((block) => block.type === "image").map(({ data, mimeType }) => ({ data, mimeType })),
      results: [...parallel, difference].map(words),
      submitted: words(submitted),
      card: words(card),
      metrics: card._meta["m3bench/card"].metrics,
      refused,
    }),
  );
}
