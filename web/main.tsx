import './style.css';
import { CSPProvider } from '@base-ui/react/csp-provider';
import { QueryClientProvider } from '@tanstack/react-query';
import { RouterProvider } from '@tanstack/react-router';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { queryClient } from './api/query-client.ts';
import { Toasts } from './kit/toast.tsx';
import { router } from './router.tsx';
import { UntilSignedOut } from './shell/signed-out.tsx';
// This import makes the page follow the system's theme while it is open.
import './shell/theme.ts';

const root = document.getElementById('root');
if (!root) throw new Error('the page has no element with the id root');
createRoot(root).render(
  <StrictMode>
    {/* Style elements are disabled, because the content security policy forbids them. */}
    <CSPProvider disableStyleElements>
      <QueryClientProvider client={queryClient}>
        <Toasts>
          <UntilSignedOut>
            <RouterProvider router={router} />
          </UntilSignedOut>
        </Toasts>
      </QueryClientProvider>
    </CSPProvider>
  </StrictMode>,
);
