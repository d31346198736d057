// An OpenID provider in which whoever comes is signed in as ann-1, of the group team, and clients register:
// node openid.mjs PORT ORIGIN SECONDS. ORIGIN is the server that its tokens are for, SECONDS is how long they are good.

import Provider from "oidc-provider";

const [port, origin, seconds] = process.argv.slice(2);
const LEEWAY = 30; // For so long m3bench takes a token that has run out.
let goodUntil = 0;
const issuer = `http://127.0.0.1:${port}`;
const provider = new Provider(issuer, {
  clients: [{ client_id: "chat", redirect_uris: ["http://127.0.0.1:7777/callback"], token_endpoint_auth_method: "none", application_type: "native", grant_types: ["authorization_code", "refresh_token"], response_types: ["code"] }],
  // Clients that say nothing of it run on the person's own machine, too.
  clientDefaults: { application_type: "native", grant_types: ["authorization_code", "refresh_token"] },
  scopes: ["openid", "play", "watch"],
  pkce: { required: () => true },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    resourceIndicators: {
      enabled: true,
      getResourceServerInfo: (ctx, resource) => {
        if (!resource.startsWith(`${origin}/`)) throw new Error(`no such resource: ${resource}`);
        return { scope: "play watch", audience: resource, accessTokenFormat: "jwt", accessTokenTTL: Number(seconds), jwt: { sign: { alg: "RS256" } } };
      },
      useGrantedResource: () => true,
    },
  },
  formats: {
    customizers: {
      jwt: (ctx, token, jwt) => {
        goodUntil = jwt.payload.iat + Number(seconds);
        jwt.payload.exp = goodUntil - LEEWAY;
      },
    },
  },
  extraTokenClaims: () => ({ groups: ["team"] }),
  findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  issueRefreshToken: () => true,
  rotateRefreshToken: () => true,
  interactions: { url: (ctx, interaction) => `/interaction/${interaction.uid}` },
});
provider.use(async (ctx, next) => {
  if (ctx.path === "/good-until") return void (ctx.body = String(goodUntil));
  if (!ctx.path.startsWith("/interaction/")) return next();
  const { params, prompt } = await provider.interactionDetails(ctx.req, ctx.res);
  if (prompt.name === "login") return provider.interactionFinished(ctx.req, ctx.res, { login: { accountId: "ann-1" } });
  const grant = new provider.Grant({ accountId: "ann-1", clientId: params.client_id });
  grant.addOIDCScope("openid play");
  grant.addResourceScope(params.resource, "play watch");
  await provider.interactionFinished(ctx.req, ctx.res, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true });
});
provider.listen(Number(port), "127.0.0.1", () => console.log("ready"));
